"""From the plan to Pulumi resources; this module imports nothing, since every provider start would pay for it."""

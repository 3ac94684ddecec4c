"""What people read: each report is a function over the plan, or over what the engine printed."""

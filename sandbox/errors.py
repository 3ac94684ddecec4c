"""The one exception that the sandbox raises on purpose."""


class SandboxError(Exception):
    """One sentence for the person at the terminal: what is wrong and what to do."""

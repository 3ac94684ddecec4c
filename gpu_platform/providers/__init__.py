"""Dynamic providers: their modules and class names are part of every stack's state."""

"""What the user asks for: the shape of the stack file, one module per section."""

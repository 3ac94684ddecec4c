"""GpuOperator: feature discovery and every vendor's operators, what they read, and what they are told of nodes."""

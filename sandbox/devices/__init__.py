"""The device simulator: plays machines, feature discovery and vendors' operators on what the API server says."""

"""RdmaFabric: rails, their networks and addresses, and everything that a training pod needs of them."""

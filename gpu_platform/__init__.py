"""Everything GPU on a bare-metal Talos Kubernetes cluster, planned before it is touched."""

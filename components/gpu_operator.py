"""GpuOperator: feature discovery and the vendors' operators."""

from components.emitted import Emitted


class GpuOperator(Emitted):
    """Makes the cluster see and hand out its GPUs."""

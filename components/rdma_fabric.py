"""RdmaFabric: the network operator, rails, their networks and addresses."""

from components.emitted import Emitted


class RdmaFabric(Emitted):
    """Lets pods of different machines reach each other's GPUs."""

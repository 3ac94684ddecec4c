"""TrainingQueue: Kueue, and who may use which cards in which order."""

from components.emitted import Emitted


class TrainingQueue(Emitted):
    """Starts gangs whole or not at all, and lends what models do not use."""

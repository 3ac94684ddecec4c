"""The outputs contract: what other stacks may rely on, typed and versioned."""

from gpu_platform.outputs.base import ContractError
from gpu_platform.outputs.fabric import FabricOutput, FabricPoolOutput
from gpu_platform.outputs.machines import ImageClassOutput, NodeOutput, OperatorOutput
from gpu_platform.outputs.platform import PlatformOutputs, outputs_of
from gpu_platform.outputs.stacks import PlatformReference, export, parse
from gpu_platform.outputs.training import TrainingOutput

__all__ = [
    "ContractError",
    "FabricOutput",
    "FabricPoolOutput",
    "ImageClassOutput",
    "NodeOutput",
    "OperatorOutput",
    "PlatformOutputs",
    "PlatformReference",
    "TrainingOutput",
    "export",
    "outputs_of",
    "parse",
]

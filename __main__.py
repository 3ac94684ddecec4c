"""One environment of the GPU platform: settings, plan, resources, outputs."""

from components.gpu_operator import GpuOperator
from components.kubernetes import Cluster
from components.rdma_fabric import RdmaFabric
from components.talos_gpu_image import TalosGpuImage
from components.training_queue import TrainingQueue
from gpu_platform.outputs import export, outputs_of
from gpu_platform.stack import planned

plan = planned()
cluster = Cluster(plan.cluster)
image = TalosGpuImage("talos-gpu-image", plan.image)
operator = GpuOperator("gpu-operator", plan.gpu_operator, cluster)
fabric = RdmaFabric("rdma-fabric", plan.rdma_fabric, cluster)
queue = TrainingQueue("training-queue", plan.training_queue, cluster)
done = [image.schematic_ids, operator.done, fabric.done, queue.done]
export(outputs_of(plan), after=done, installer_digests=image.installer_digests)

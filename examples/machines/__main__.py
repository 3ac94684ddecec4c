"""Reads the platform's outputs, typed, and exports what a machine needs and how the cluster is reached."""

from pathlib import Path

import pulumi

from gpu_platform.outputs import PlatformOutputs, PlatformReference


def machines(outputs: PlatformOutputs) -> dict[str, dict[str, str]]:
    """Return installer, patch and labels of every node that boots an image."""
    found: dict[str, dict[str, str]] = {}
    for name, node in outputs.nodes.items():
        if node.image_class and node.installer:
            patch = outputs.image_classes[node.image_class].machine_config_patch
            found[name] = {"installer": node.installer, "patch": patch}
    return found


config = pulumi.Config()
platform = PlatformReference(config.require("platform"))
pulumi.export("machines", platform.outputs.apply(machines))
pulumi.export("gpus", platform.outputs.apply(lambda outputs: sum(node.gpu_count for node in outputs.nodes.values())))
pulumi.export("kubeconfig", pulumi.Output.secret(Path(config.require("kubeconfigFile")).read_text(encoding="utf-8")))

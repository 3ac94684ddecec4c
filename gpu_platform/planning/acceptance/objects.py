"""Kubernetes objects of a measurement: program, service, job; valid names whatever pools and nodes are called."""

from __future__ import annotations

import copy
import hashlib
from typing import Any

from gpu_platform import facts, programs

# Programs are seen here in the pod; the name of the container in the patch of a pool is a star.
DIRECTORY, CONTAINER = "/opt/gpu-platform", "test"
# A pod's host name is the job's with a hyphen and its index: a DNS label of 63 characters.
LONGEST_NAME = 63 - len("-00000")
KEPT_SECONDS = 24 * 3600


def name(kind: str, subject: str) -> str:
    """Return the name of a job on a pool or node; one that is too long or has dots ends in a number of its own."""
    whole = f"{kind}-{subject}"
    plain = whole.replace(".", "-")
    if plain == whole and len(whole) <= LONGEST_NAME:
        return whole
    number = hashlib.sha256(subject.encode()).hexdigest()[:8]
    return f"{plain[: LONGEST_NAME - 9].rstrip('-')}-{number}"


def metadata(called: str, space: str, reason: str = "") -> dict[str, Any]:
    """Return an object's metadata; the reason says what is judged and by whose figures."""
    said = {"annotations": {"gpu-platform/threshold": reason}} if reason else {}
    labels = {"app.kubernetes.io/part-of": "gpu-platform", "app.kubernetes.io/instance": called}
    return {"name": called, "namespace": space, "labels": labels, **said}


def config_map(called: str, space: str, *names: str) -> dict[str, Any]:
    """Return the programs as files."""
    data = {f"{one}.py": programs.text(one) for one in names}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(called, space), "data": data}


def service(called: str, space: str, port: int) -> dict[str, Any]:
    """Return the headless service that gives a job's pods their names."""
    spec = {
        "clusterIP": "None",
        "selector": {"batch.kubernetes.io/job-name": called},
        # They meet before any of them is ready.
        "publishNotReadyAddresses": True,
        "ports": [{"name": "rendezvous", "port": port}],
    }
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata(called, space), "spec": spec}


def job(called: str, space: str, reason: str, template: dict[str, Any], deadline: int, **spec: Any) -> dict[str, Any]:
    """Return a job that is tried once, ends in bounded time, and is kept for a day."""
    said = {
        **spec,
        "backoffLimit": 0,
        "activeDeadlineSeconds": deadline,
        "ttlSecondsAfterFinished": KEPT_SECONDS,
        "template": template,
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata(called, space, reason), "spec": said}


def template(
    patch: dict[str, Any], called: str, command: list[str], environment: dict[str, str], **spec: Any
) -> dict[str, Any]:
    """Return a pod template: a pool's patch with image, command and program, and further fields of the pod."""
    found = copy.deepcopy(patch)
    (container,) = found["spec"]["containers"]
    image = facts.table("catalog")["image"]["pytorch"]
    container |= {"name": CONTAINER, "image": f"{image['repository']}:{image['version']}", "command": command}
    container["env"] = [*container["env"], *({"name": key, "value": value} for key, value in environment.items())]
    program = {"name": "program", "mountPath": DIRECTORY, "readOnly": True}
    container["volumeMounts"] = [*container["volumeMounts"], program]
    found["spec"]["volumes"] = [*found["spec"]["volumes"], {"name": "program", "configMap": {"name": called}}]
    found["spec"] |= {"restartPolicy": "Never", "automountServiceAccountToken": False, **spec}
    labels = {"app.kubernetes.io/part-of": "gpu-platform", "app.kubernetes.io/instance": called}
    found["metadata"] = {**found.get("metadata", {}), "labels": labels}
    return found


def pinned(*names: str) -> dict[str, Any]:
    """Return the affinity for nodes by their names, whatever their labels."""
    # A field takes one value, and terms are alternatives.
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [one]}]} for one in names]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}

"""Slices come, change and go with the decisions."""

from typing import Any

from sandbox.devices.others import clean_up
from sandbox.devices.slices import changes, publish, slice_of
from sandbox.kube import ApiError
from tests.sandbox.other_objects import others

ONE = slice_of("gpu.amd.com", "gpu-01", [{"name": "gpu-0-128"}])


def test_what_is_not_there_is_applied_and_what_is_not_wanted_goes() -> None:
    assert changes([ONE], []) == ([], [ONE])
    assert changes([ONE], [ONE]) == ([], [])
    assert changes([], [ONE]) == (["gpu-01-gpu.amd.com"], [])


def test_other_devices_are_another_generation() -> None:
    (found,) = changes([slice_of("gpu.amd.com", "gpu-01", [])], [ONE])[1]
    assert found["spec"]["pool"] == {"name": "gpu-01", "generation": 2, "resourceSliceCount": 1}


def test_a_node_made_anew_owns_its_slice_anew() -> None:
    old, new = (slice_of("gpu.amd.com", "gpu-01", [{"name": "gpu-0-128"}], uid) for uid in ("u1", "u2"))
    assert changes([old], [old]) == ([], [])
    assert changes([new], [old]) == ([], [new])


class Cluster:
    def __init__(self, code: int = 0) -> None:
        self.code, self.writes = code, list[str]()

    def items(self, *_what: str, **_query: str) -> list[Any]:
        if self.code:
            raise ApiError(self.code, "no")
        return []

    def get(self, *_where: str) -> Any:
        return {}

    def apply(self, obj: Any, plural: str, **_manager: str) -> None:
        self.writes.append(f"apply {plural}/{obj['metadata']['name']}")

    def delete(self, _api: str, plural: str, _space: str | None, name: str) -> None:
        self.writes.append(f"delete {plural}/{name}")


def test_a_cluster_without_the_api_gets_no_slices() -> None:
    old: Any = Cluster(404)
    assert not publish(old, [ONE], "m")
    new: Any = Cluster()
    assert publish(new, [ONE], "m")
    assert new.writes == ["apply resourceslices/gpu-01-gpu.amd.com"]


def test_the_clean_up_hook_removes_the_device_configs() -> None:
    kube: Any = Cluster()
    assert clean_up(kube, others())
    assert kube.writes == ["delete deviceconfigs/default"]
    assert not clean_up(kube, others(amd_operator=None))

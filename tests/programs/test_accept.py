"""What a machine is accepted by, from a sysfs, limits and outputs of the real form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gpu_platform.programs import accept
from gpu_platform.programs.all_reduce import Asked, measured, report

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max open files            1048576              1048576              files
Max locked memory         {soft}            unlimited            bytes
Max address space         unlimited            unlimited            bytes
"""


def sysfs(root: Path, **states: str) -> Path:
    """Return a directory like /sys/class/infiniband with one port a device."""
    for name, state in states.items():
        port = root / name / "ports" / "1"
        port.mkdir(parents=True)
        (port / "state").write_text(f"{state}\n", encoding="utf-8")
    return root


def test_every_rail_has_a_device_with_an_active_port(tmp_path: Path) -> None:
    root = sysfs(tmp_path, mlx5_0="4: ACTIVE", mlx5_1="1: DOWN", mlx5_2="2: INIT", mlx5_9="4: ACTIVE")
    found = list(accept.rails(root, ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"), 4))
    assert [one.ok for one in found] == [True, False, False, False]
    assert found[1].said == "its ports are 1: DOWN"
    assert found[3].said == "it is not there: there is mlx5_0, mlx5_1, mlx5_2, mlx5_9"


def test_without_names_active_devices_are_counted(tmp_path: Path) -> None:
    root = sysfs(tmp_path, mlx5_0="4: ACTIVE", mlx5_1="5: ACTIVE_DEFER")
    assert [one.ok for one in accept.rails(root, (), 1)] == [True]
    (short,) = accept.rails(root, (), 2)
    assert (short.ok, short.said) == (False, "1 RDMA devices are active, there are 2 rails")


def test_a_machine_without_rdma_has_no_rail(tmp_path: Path) -> None:
    (found,) = accept.rails(tmp_path / "absent", ("mlx5_0",), 1)
    assert (found.ok, found.said) == (False, "it is not there: there is none")


@pytest.mark.parametrize(("soft", "ok"), [("unlimited", True), ("8388608  ", False)])
def test_memory_may_be_locked_without_a_limit(soft: str, ok: bool) -> None:
    assert accept.locked_memory(LIMITS.format(soft=soft)).ok is ok


def test_limits_that_say_nothing_fail() -> None:
    assert accept.locked_memory("") == accept.Check("locked memory", False, "nothing may be locked")


def test_cards_are_as_many_as_the_inventory_says() -> None:
    assert accept.gpus(8, 8).ok
    assert accept.gpus(8, 7) == accept.Check("gpus", False, "7 of 8 GPUs are visible")


def test_memory_is_written_and_read_back() -> None:
    assert accept.memory(0, 70 << 30, 0).ok
    assert not accept.memory(0, 70 << 30, 1).ok
    assert not accept.memory(0, 0, 0).ok
    broken = accept.memory(3, 0, 0, "CUDA error: uncorrectable ECC error encountered")
    assert (broken.name, broken.ok, broken.said) == (
        "memory of GPU 3",
        False,
        "CUDA error: uncorrectable ECC error encountered",
    )


def printed(asked: Asked, seconds: float, failures: list[str]) -> str:
    return "\n".join(report(asked, [measured(2**33, seconds, 8)], failures, 8)) + "\ntorchrun says more\n"


def test_all_reduce_is_judged_by_what_it_printed() -> None:
    good = accept.reduced(printed(Asked(460.0), 0.03, []), 0)
    assert (good.ok, good.said) == (True, "501.08 GB/s inside the machine, at least 460.0 is needed")
    assert accept.reduced(printed(Asked(), 0.03, []), 0).said.endswith("measured, not judged")
    slow = accept.reduced(printed(Asked(460.0), 1.0, ["too slow"]), 1)
    assert (slow.ok, slow.said) == (False, "too slow")
    assert not accept.reduced(printed(Asked(460.0), 0.03, []), 1).ok
    nothing = accept.reduced('42\n{"test": "other"}\nRuntimeError: NCCL error', 1)
    assert (nothing.ok, nothing.said) == (False, "it ended with status 1 before anything was measured")


def test_one_failed_check_fails_the_machine_and_none_run_too() -> None:
    ok, text = accept.report([accept.gpus(8, 8)])
    assert (ok, text.splitlines()[0]) == (True, "ok     gpus: 8 of 8 GPUs are visible")
    ok, text = accept.report([accept.gpus(8, 8), accept.gpus(8, 7)])
    assert not ok
    assert [one["ok"] for one in json.loads(text.splitlines()[-1])["checks"]] == [True, False]
    ok, text = accept.report([])
    assert not ok
    assert text.startswith("FAILED no check was run")

"""Both programs from end to end on a stand-in for torch: what they print, write and return; no GPU is in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpu_platform.programs import accept, all_reduce
from tests.programs.test_accept import printed

USING = "n1:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>"
CHANNEL = "n1:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA"


class Tensor:
    """One value that stands for all of a tensor's."""

    def __init__(self, value: float = 0, broken: bool = False) -> None:
        self.value, self.broken = value, broken

    def __getitem__(self, _: slice) -> Tensor:
        return self

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        return Tensor(int(self.value != other or self.broken))

    def fill_(self, value: float) -> None:
        self.value = value

    def zero_(self) -> None:
        self.value = 0

    def sum(self) -> Tensor:
        return self

    def item(self) -> float:
        return self.value


class Count(Tensor):
    """What was counted, on which ranks agree."""


def torch(log: str, *, cards: int = 2, broken: bool = False) -> SimpleNamespace:
    """Return what the programs use of torch, as rank 0 of two; NCCL's log has the given text."""

    def all_reduce_(tensor: Tensor, op: str = "sum") -> None:
        # Rank 1 counts as many wrong values as we do, and has filled with its own number.
        if isinstance(tensor, Count):
            tensor.value *= 2
        elif op == "sum" and not broken:
            tensor.value += 1

    def gather(said: list[Any], mine: Any) -> None:
        said[:] = [mine, ("n2", mine[1])]

    def start(_: str) -> None:
        Path(os.environ["NCCL_DEBUG_FILE"]).write_text(log, encoding="utf-8")

    distributed = SimpleNamespace(
        init_process_group=start,
        get_rank=lambda: 0,
        get_world_size=lambda: 2,
        all_reduce=all_reduce_,
        all_gather_object=gather,
        barrier=lambda: None,
        destroy_process_group=lambda: None,
        ReduceOp=SimpleNamespace(MAX="max"),
    )
    cuda = SimpleNamespace(
        set_device=lambda _: None,
        synchronize=lambda: None,
        empty_cache=lambda: None,
        device_count=lambda: cards,
        mem_get_info=lambda _: (4 << 30, 80 << 30),
    )
    return SimpleNamespace(
        distributed=distributed,
        cuda=cuda,
        float32="float32",
        float64="float64",
        int64="int64",
        empty=lambda *_, **__: Tensor(broken=broken),
        tensor=lambda value, **_: Tensor(value),
        count_nonzero=lambda found: Count(found.value),
    )


@pytest.fixture(autouse=True)
def pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Play the pod: its termination log, its place for files, the variables of torchrun."""
    for program in (accept, all_reduce):
        monkeypatch.setattr(program, "TERMINATION_LOG", tmp_path / "termination-log")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("LOCAL_RANK", "0")
    for name in ("NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"):
        monkeypatch.setenv(name, "")
    return tmp_path


def last(text: str) -> dict[str, Any]:
    return dict(json.loads(text.splitlines()[-1]))


def test_all_reduce_passes_and_fails(
    monkeypatch: pytest.MonkeyPatch, pod: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch(f"{USING}\n{CHANNEL}\n"))
    words = ["--rails=1", "--hca=mlx5_0", f"--largest={2**22}"]
    assert all_reduce.main(words) == 0
    said = last(capsys.readouterr().out)
    assert (said["ok"], [one["bytes"] for one in said["sizes"]]) == (True, [2**20, 2**21, 2**22])
    assert (pod / "termination-log").read_text(encoding="utf-8") == ""
    assert all_reduce.main([*words, "--at-least=1e9"]) == 1
    text = capsys.readouterr().out
    # What NCCL said of the network is printed where something is wrong.
    assert USING in text
    assert not last(text)["ok"]
    assert "bus bandwidth at 4 MiB" in (pod / "termination-log").read_text(encoding="utf-8")
    monkeypatch.setitem(sys.modules, "torch", torch(f"{USING}\n{CHANNEL}\n", broken=True))
    assert all_reduce.main(words) == 1
    assert "6 values came out wrong" in capsys.readouterr().out
    assert all_reduce.main([*words[:2], "--largest=0"]) == 1
    assert "zero tests run" in capsys.readouterr().out


def test_a_machine_is_accepted_or_not(
    monkeypatch: pytest.MonkeyPatch, pod: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[str]] = []

    def run(words: list[str], **_: Any) -> SimpleNamespace:
        commands.append(words)
        return SimpleNamespace(stdout=printed(all_reduce.Asked(460.0), 0.03, []), returncode=0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setitem(sys.modules, "torch", torch(""))
    assert accept.main(["--gpus=2", "--at-least=460.0"]) == 0
    names = [one["name"] for one in last(capsys.readouterr().out)["checks"]]
    assert names == ["gpus", "memory of GPU 0", "memory of GPU 1", "all-reduce"]
    assert commands[0][:3] == ["torchrun", "--standalone", "--nproc-per-node=2"]
    assert commands[0][-1] == "--at-least=460.0"

    (pod / "mlx5_0" / "ports" / "1").mkdir(parents=True)
    (pod / "mlx5_0" / "ports" / "1" / "state").write_text("1: DOWN\n", encoding="utf-8")
    monkeypatch.setattr(accept, "INFINIBAND", pod)
    assert accept.main(["--gpus=4", "--rails=1", "--hca=mlx5_0"]) == 1
    assert "rail mlx5_0: its ports are 1: DOWN" in (pod / "termination-log").read_text(encoding="utf-8")


def test_memory_that_forgets_is_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch("", cards=1, broken=True))
    assert accept.main(["--gpus=1"]) == 1
    assert "memory of GPU 0: 3 GiB written and read back, 6 words differ" in capsys.readouterr().out
    gone = torch("", cards=1)

    def lost(*_: Any, **__: Any) -> Tensor:
        raise RuntimeError("CUDA error: out of memory\nmore")

    gone.empty = lost
    monkeypatch.setitem(sys.modules, "torch", gone)
    assert accept.main(["--gpus=1"]) == 1
    assert "FAILED memory of GPU 0: CUDA error: out of memory\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["accept", "all_reduce"])
def test_a_program_starts_alone_with_the_standard_library(name: str, tmp_path: Path) -> None:
    from gpu_platform import programs

    (tmp_path / f"{name}.py").write_text(programs.text(name), encoding="utf-8")
    words = [sys.executable, "-I", "-S", str(tmp_path / f"{name}.py"), "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, "--at-least" in done.stdout) == (0, True)

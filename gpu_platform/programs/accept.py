"""Accept one machine: its GPUs, their memory, NVLink, the RDMA device of every rail, and memory that may be locked."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

INFINIBAND = Path("/sys/class/infiniband")
LIMITS = Path("/proc/self/limits")
TERMINATION_LOG = Path("/dev/termination-log")
CHUNK, SHARE_OF_FREE = 2**30, 0.9
# Neighbouring bits differ, and the second is the first turned over.
PATTERNS = (0x5555555555555555, -0x5555555555555556)


@dataclass(frozen=True)
class Check:
    """One check that was run, and what it saw."""

    name: str
    ok: bool
    said: str


def gpus(expected: int, seen: int) -> Check:
    """Judge how many GPUs there are."""
    return Check("gpus", seen == expected, f"{seen} of {expected} GPUs are visible")


def rails(root: Path, hcas: Sequence[str], count: int) -> Iterator[Check]:
    """Judge the RDMA device of every rail: that it is there and a port of it is active."""
    there = sorted(one.name for one in root.iterdir()) if root.is_dir() else []
    for name in hcas:
        states = port_states(root / name)
        said = (
            f"its ports are {', '.join(states)}"
            if states
            else f"it is not there: there is {', '.join(there) or 'none'}"
        )
        yield Check(f"rail {name}", any(_active(one) for one in states), said)
    if not hcas:
        active = [name for name in there if any(_active(one) for one in port_states(root / name))]
        yield Check("rails", len(active) >= count, f"{len(active)} RDMA devices are active, there are {count} rails")


def port_states(device: Path) -> list[str]:
    """Return the states of a device's ports, such as `4: ACTIVE`."""
    return [path.read_text(encoding="utf-8").strip() for path in sorted(device.glob("ports/*/state"))]


def _active(state: str) -> bool:
    return state.partition(":")[2].strip() == "ACTIVE"


def locked_memory(limits: str) -> Check:
    """Judge how much memory may be locked: NICs read from where it lies."""
    line = next((one for one in limits.splitlines() if one.startswith("Max locked memory")), "")
    soft = line.removeprefix("Max locked memory").split()[:1]
    return Check("locked memory", soft == ["unlimited"], f"{soft[0] if soft else 'nothing'} may be locked")


def memory(index: int, tested: int, wrong: int, error: str = "") -> Check:
    """Judge what was read back from one GPU; nothing tested is a failure."""
    said = error or f"{tested >> 30} GiB written and read back, {wrong} words differ"
    return Check(f"memory of GPU {index}", not error and tested > 0 and wrong == 0, said)


def reduced(output: str, status: int) -> Check:
    """Judge what all_reduce.py printed; without its line of JSON nothing was measured."""
    for line in reversed(output.splitlines()):
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and said.get("test") == "all-reduce":
            wanted = f"at least {said['atLeast']} is needed" if said["atLeast"] is not None else "measured, not judged"
            why = "; ".join(said["failures"]) or f"{said['busbw']} GB/s inside the machine, {wanted}"
            return Check("all-reduce", bool(said["ok"]) and status == 0, why)
    return Check("all-reduce", False, f"it ended with status {status} before anything was measured")


def report(checks: Sequence[Check]) -> tuple[bool, str]:
    """Return whether the machine is accepted, and what to print: a line a check, and one line of JSON."""
    ok = bool(checks) and all(one.ok for one in checks)
    lines = [f"{'ok    ' if one.ok else 'FAILED'} {one.name}: {one.said}" for one in checks]
    lines += [] if checks else ["FAILED no check was run, and zero checks run is a failure"]
    said = {"test": "accept", "ok": ok, "checks": [asdict(one) for one in checks]}
    return ok, "\n".join([*lines, json.dumps(said)]) + "\n"


def _memory_of(torch: Any, index: int) -> Check:
    torch.cuda.set_device(index)
    free = torch.cuda.mem_get_info(index)[0]
    wrong = tested = 0
    try:
        chunks = [
            torch.empty(CHUNK // 8, dtype=torch.int64, device="cuda") for _ in range(int(free * SHARE_OF_FREE) // CHUNK)
        ]
        for pattern in PATTERNS:
            # All are written before any is read, each with its own number: two addresses of one cell are found.
            for number, chunk in enumerate(chunks):
                chunk.fill_(pattern ^ number)
            wrong += sum(int((chunk != pattern ^ number).sum().item()) for number, chunk in enumerate(chunks))
        tested = len(chunks) * CHUNK
    except RuntimeError as error:
        return memory(index, tested, wrong, str(error).partition("\n")[0])
    finally:
        chunks = []
        torch.cuda.empty_cache()
    return memory(index, tested, wrong)


def _all_reduce(count: int, at_least: float | None) -> Check:
    program = Path(__file__).with_name("all_reduce.py")
    words = ["torchrun", "--standalone", f"--nproc-per-node={count}", str(program)]
    words += [] if at_least is None else [f"--at-least={at_least}"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    sys.stdout.write(done.stdout)
    return reduced(done.stdout, done.returncode)


def _checks(asked: argparse.Namespace) -> Iterator[Check]:
    import torch

    seen = torch.cuda.device_count()
    yield gpus(asked.gpus, seen)
    if asked.rails:
        yield from rails(INFINIBAND, asked.hca, asked.rails)
        yield locked_memory(LIMITS.read_text(encoding="utf-8"))
    for index in range(seen):
        yield _memory_of(torch, index)
    if seen > 1:
        yield _all_reduce(seen, asked.at_least)


def main(words: Sequence[str] | None = None) -> int:
    """Run every check, and return 0 or 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, required=True, help="GPUs of the machine")
    parser.add_argument(
        "--at-least", type=float, help="bus bandwidth inside the machine in GB/s; without: measure only"
    )
    parser.add_argument("--rails", type=int, default=0, help="rails of the machine; 0 when it is on no fabric")
    parser.add_argument("--hca", action="append", default=[], help="the RDMA device of a rail; once for each")
    checks = list(_checks(parser.parse_args(words)))
    ok, text = report(checks)
    sys.stdout.write(text)
    TERMINATION_LOG.write_text("\n".join(f"{one.name}: {one.said}" for one in checks if not one.ok), encoding="utf-8")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())

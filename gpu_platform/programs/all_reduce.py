"""All-reduce over growing sizes under torchrun: rank 0 prints a table and one line of JSON, and judges."""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SMALLEST, LARGEST = 2**20, 2**33
WARM_UP, TIMES = 5, 20
TERMINATION_LOG = Path("/dev/termination-log")


@dataclass(frozen=True)
class Asked:
    """What must be true: GB/s at the largest size (None: measure only), rails of every machine (0: no network)."""

    at_least: float | None = None
    rails: int = 0
    hcas: tuple[str, ...] = ()


@dataclass(frozen=True)
class Size:
    """One measured size: seconds of one all-reduce, bandwidths in GB/s, values that came out wrong."""

    bytes: int
    seconds: float
    algbw: float
    busbw: float
    wrong: int = 0


@dataclass(frozen=True)
class Network:
    """What NCCL's log says of one machine: devices that it was given, devices and transports that its channels use."""

    given: tuple[str, ...]
    used: tuple[str, ...]
    transports: tuple[str, ...]


def measured(size: int, seconds: float, ranks: int, wrong: int = 0) -> Size:
    """Return a size with its bandwidths: the bus carries 2(n-1)/n of what all-reduce reduces."""
    algbw = size / seconds / 1e9
    return Size(size, seconds, algbw, algbw * 2 * (ranks - 1) / ranks, wrong)


_USING = re.compile(r"NET/IB : Using (.*)")
_MERGED = re.compile(r"\[(\d+)\]=\{([^}]*)\}")
_DEVICE = re.compile(r"\[(\d+)\]\s*([\w.-]+):\d+/(?:IB|RoCE)")
_VIRTUAL = re.compile(r"NET/IB : Made virtual device \[(\d+)\] name=(\S+)")
_CHANNEL = re.compile(r"via NET/([^/]+)/(\d+)")
_CHOSEN = re.compile(r"Using network (.+?)\s*$", re.MULTILINE)


def of_network(log: str) -> str:
    """Return the lines of a log that speak of the network, which is what ranks send each other."""
    return "\n".join(line for line in log.splitlines() if "NET/" in line or "Using network" in line)


def network(log: str) -> Network:
    """Read one machine's NCCL log (NCCL_DEBUG=INFO), of all its ranks together."""
    by_number: dict[str, str] = {}
    for line in _USING.findall(log):
        by_number |= dict(_MERGED.findall(line))
        by_number |= dict(_DEVICE.findall(_MERGED.sub("", line)))
    given = {name for line in _USING.findall(log) for _, name in _DEVICE.findall(line)}
    # A virtual device is several ports that NCCL takes for one; channels then have its number.
    by_number |= dict(_VIRTUAL.findall(log))
    channels = _CHANNEL.findall(log)
    ports = [by_number.get(number, "") for name, number in channels if name != "Socket"]
    used = {name for one in ports for name in _ports(one)}
    transports = {name for name, _ in channels} or set(_CHOSEN.findall(log))
    if not transports and "NET/Socket : Using" in log and not given:
        transports = {"Socket"}
    return Network(tuple(sorted(given)), tuple(sorted(used)), tuple(sorted(transports)))


def _ports(device: str) -> list[str]:
    return [name for _, name in _DEVICE.findall(device)] or [one for one in device.split("+") if one]


def judge(asked: Asked, sizes: Sequence[Size], logs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return why this run has failed, [] when it has not; `logs` are those of every rank by machine."""
    if not sizes:
        return ["no size was measured, and zero tests run is a failure"]
    largest = max(sizes, key=lambda one: one.bytes)
    wrong = sum(one.wrong for one in sizes)
    found = [f"{wrong} values came out wrong"] if wrong else []
    if asked.at_least is not None and not largest.busbw >= asked.at_least:
        reached = f"bus bandwidth at {human(largest.bytes)} is {largest.busbw:.1f} GB/s"
        found.append(f"{reached}, at least {asked.at_least:.1f} is needed")
    if asked.rails:
        found += [f"{host}: {one}" for host, texts in sorted(logs.items()) for one in _rails(asked, texts)]
        found += [] if logs else ["there is no log of NCCL, so that nothing is known of its network"]
    return found


def _rails(asked: Asked, texts: Sequence[str]) -> Iterator[str]:
    seen = network("\n".join(texts))
    if "Socket" in seen.transports:
        yield "NCCL uses sockets (NET/Socket) instead of RDMA (NET/IB): the rails carry nothing"
        return
    if not seen.transports:
        yield "NCCL's log names no network: nothing shows that the rails were used"
        return
    missing = sorted(set(asked.hcas) - set(seen.given))
    if missing or len(seen.given) < asked.rails:
        names = f": {', '.join(missing)} is missing" if missing else ""
        yield f"NCCL was given {len(set(seen.given) - set(missing))} devices for {asked.rails} rails{names}"
        return
    idle = sorted(set(asked.hcas or seen.given) - set(seen.used))
    # A rank uses the rail nearest to its card: fewer cards than rails leave some idle.
    if len(seen.used) < min(asked.rails, len(texts)):
        yield f"NCCL uses {len(seen.used)} of {asked.rails} rails: {', '.join(idle)} is idle"


def human(size: int) -> str:
    """Return a size of 2^n bytes as people write it."""
    power = min((size.bit_length() - 1) // 10, 3)
    return f"{size >> 10 * power} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def report(asked: Asked, sizes: Sequence[Size], failures: Sequence[str], ranks: int) -> Iterator[str]:
    """Yield the table, why it failed, and the line of JSON."""
    yield f"{'size':>10} {'time us':>12} {'algbw GB/s':>12} {'busbw GB/s':>12} {'wrong':>8}"
    for one in sizes:
        yield f"{human(one.bytes):>10} {one.seconds * 1e6:12.1f} {one.algbw:12.2f} {one.busbw:12.2f} {one.wrong:8d}"
    if asked.at_least is None:
        yield "no threshold was given: bandwidth is measured, not judged"
    yield from (f"FAILED: {one}" for one in failures)
    said = {
        "test": "all-reduce",
        "ok": not failures,
        "failures": list(failures),
        "ranks": ranks,
        "busbw": round(max(sizes, key=lambda one: one.bytes).busbw, 2) if sizes else None,
        "atLeast": asked.at_least,
        "sizes": [asdict(one) for one in sizes],
    }
    yield json.dumps(said)


def arguments(words: Sequence[str] | None = None) -> tuple[Asked, int]:
    """Return what the command line asks for, and the largest size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--at-least", type=float, help="bus bandwidth in GB/s at the largest size; without: measure only"
    )
    parser.add_argument("--rails", type=int, default=0, help="rails of every machine; 0 does not look at the network")
    parser.add_argument("--hca", action="append", default=[], help="the RDMA device of a rail; once for each")
    parser.add_argument("--largest", type=int, default=LARGEST, help="largest size in bytes")
    found = parser.parse_args(words)
    return Asked(found.at_least, found.rails, tuple(found.hca)), found.largest


def _measure(torch: Any, rank: int, ranks: int, largest: int) -> Iterator[Size]:
    whole = torch.empty(largest // 4, dtype=torch.float32, device="cuda")
    size = SMALLEST
    while size <= largest:
        part = whole[: size // 4]
        part.fill_(rank)
        torch.distributed.all_reduce(part)
        wrong = torch.count_nonzero(part != ranks * (ranks - 1) / 2)
        torch.distributed.all_reduce(wrong)
        # Sums of sums would overflow.
        part.zero_()
        for turn in range(WARM_UP + TIMES):
            if turn == WARM_UP:
                torch.cuda.synchronize()
                start = time.perf_counter()
            torch.distributed.all_reduce(part)
        torch.cuda.synchronize()
        took = torch.tensor((time.perf_counter() - start) / TIMES, dtype=torch.float64, device="cuda")
        torch.distributed.all_reduce(took, op=torch.distributed.ReduceOp.MAX)
        yield measured(size, took.item(), ranks, int(wrong.item()))
        size *= 2


def main(words: Sequence[str] | None = None) -> int:
    """Measure, and return 0 or 1."""
    asked, largest = arguments(words)
    log = Path(tempfile.gettempdir()) / f"nccl.{os.getpid()}.log"
    os.environ |= {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET", "NCCL_DEBUG_FILE": str(log)}
    import torch

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
    sizes = list(_measure(torch, rank, ranks, largest))
    said: list[Any] = [None] * ranks
    torch.distributed.all_gather_object(said, (socket.gethostname(), of_network(log.read_text(errors="replace"))))
    failures: list[str] = []
    if rank == 0:
        logs: dict[str, list[str]] = {}
        for host, text in said:
            logs.setdefault(host, []).append(text)
        failures = judge(asked, sizes, logs)
        if failures:
            sys.stdout.writelines(f"{line}\n" for texts in logs.values() for line in texts[0].splitlines()[:20])
        sys.stdout.writelines(f"{line}\n" for line in report(asked, sizes, failures, ranks))
        sys.stdout.flush()
        TERMINATION_LOG.write_text("\n".join(failures), encoding="utf-8")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

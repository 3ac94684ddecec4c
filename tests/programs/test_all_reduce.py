"""What all-reduce is judged by: bandwidth at the largest size, and the network that NCCL's own log names."""

from __future__ import annotations

import json

import pytest

from gpu_platform.programs.all_reduce import Asked, Size, arguments, human, judge, measured, network, of_network, report

HCAS = ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3")
IB = Asked(at_least=160.0, rails=4, hcas=HCAS)
FAST = [measured(2**20, 1e-4, 8), measured(2**33, 0.09, 8)]
USING = "n1:{pid}:{pid} [0] NCCL INFO NET/IB : Using {devices} [RO]; OOB eth0:10.244.1.7<0>"
DEVICES = "[0]mlx5_0:1/IB [1]mlx5_1:1/IB/SHARP [2]mlx5_2:1/IB [3]mlx5_3:1/IB"
SOCKETS = """\
n1:31:31 [0] NCCL INFO NET/IB : No device found.
n1:31:31 [0] NCCL INFO NET/Socket : Using [0]eth0:10.244.1.7<0>
n1:31:31 [0] NCCL INFO Using network Socket
"""


def rank(number: int, devices: str = DEVICES, rails: tuple[int, ...] | None = None) -> str:
    """Return the log of one rank as NCCL writes it, with channels over the given rails."""
    said = f"n1:3{number}:99 [{number}] NCCL INFO"
    lines = [USING.format(pid=30 + number, devices=devices), f"{said} Using network IB"]
    for rail in rails if rails is not None else (number,):
        lines.append(f"{said} Channel 00/0 : 9[1] -> {number}[{number}] [receive] via NET/IB/{rail}/GDRDMA")
        lines.append(f"{said} Channel 01/0 : {number}[{number}] -> 9[1] [send] via NET/IB/{rail}(2)/GDRDMA")
    return "\n".join([*lines, f"{said} Channel 02/0 : 0[0] -> 1[1] via P2P/CUMEM/read"])


def healthy() -> dict[str, list[str]]:
    return {"n1": [rank(one) for one in range(4)], "n2": [rank(one) for one in range(4)]}


def test_bus_bandwidth_is_what_nccl_tests_call_so() -> None:
    one = measured(8 * 10**9, 1.0, 16)
    assert (one.algbw, one.busbw) == (8.0, 15.0)


def test_a_healthy_run_has_no_failures() -> None:
    assert judge(IB, FAST, healthy()) == []


def test_zero_tests_run_is_a_failure() -> None:
    assert judge(IB, [], healthy()) == ["no size was measured, and zero tests run is a failure"]
    assert judge(IB, FAST, {}) == ["there is no log of NCCL, so that nothing is known of its network"]


def test_the_largest_size_is_judged_and_only_against_a_threshold() -> None:
    slow = [measured(2**20, 1e-6, 8), measured(2**33, 1.0, 8)]
    assert judge(IB, slow, healthy()) == ["bus bandwidth at 8 GiB is 15.0 GB/s, at least 160.0 is needed"]
    assert judge(Asked(rails=4, hcas=HCAS), slow, healthy()) == []
    broken = [Size(2**33, float("nan"), float("nan"), float("nan"))]
    assert len(judge(IB, broken, healthy())) == 1


def test_values_that_came_out_wrong_fail_whatever_the_speed() -> None:
    assert judge(Asked(), [measured(2**33, 0.01, 8, wrong=3)], {}) == ["3 values came out wrong"]


def test_sockets_on_one_machine_are_a_failure_of_that_machine() -> None:
    logs = {**healthy(), "n2": [SOCKETS]}
    assert judge(IB, FAST, logs) == [
        "n2: NCCL uses sockets (NET/Socket) instead of RDMA (NET/IB): the rails carry nothing"
    ]
    channel = "n1:31:99 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/Socket/0"
    assert "sockets" in judge(IB, FAST, {"n1": [channel]})[0]
    # Without the line that names the choice, as older releases and filtered logs have it.
    assert "sockets" in judge(IB, FAST, {"n1": [SOCKETS.splitlines()[1]]})[0]


def test_a_log_that_says_nothing_proves_nothing() -> None:
    said = judge(IB, FAST, {"n1": ["n1:31:31 [0] NCCL INFO Bootstrap : Using eth0:10.244.1.7<0>"]})
    assert said == ["n1: NCCL's log names no network: nothing shows that the rails were used"]


def test_a_rail_that_nccl_was_not_given_is_named() -> None:
    fewer = "[0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_3:1/IB"
    logs = {"n1": [rank(one, fewer, (0, 1, 2)) for one in range(4)]}
    assert judge(IB, FAST, logs) == ["n1: NCCL was given 3 devices for 4 rails: mlx5_2 is missing"]
    assert judge(Asked(rails=4), FAST, logs) == ["n1: NCCL was given 3 devices for 4 rails"]


def test_a_rail_that_no_channel_uses_is_named() -> None:
    logs = {"n1": [rank(one, rails=(one % 2,)) for one in range(4)]}
    assert judge(IB, FAST, logs) == ["n1: NCCL uses 2 of 4 rails: mlx5_2, mlx5_3 is idle"]
    # Two cards cannot be near four rails.
    assert judge(IB, FAST, {"n1": [rank(0), rank(1)]}) == []


def test_ports_that_nccl_takes_for_one_device_all_count() -> None:
    virtual = "\n".join(
        f"n1:31:31 [0] NCCL INFO NET/IB : Made virtual device [{4 + one}] name={pair} speed=800000 ndevs=2"
        for one, pair in enumerate(("mlx5_0+mlx5_1", "mlx5_2+mlx5_3"))
    )
    logs = {"n1": [f"{virtual}\n{rank(one, rails=(4 + one % 2,))}" for one in range(4)]}
    assert judge(IB, FAST, logs) == []
    merged = "[0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB} [1]={[2] mlx5_2:1/IB, [3] mlx5_3:1/IB}"
    assert network(rank(0, merged, (0, 1))).used == HCAS


def test_devices_of_roce_and_of_plug_ins_are_read_too() -> None:
    log = rank(0, "[0]rocep26s0:1/RoCE [1]mlx5_bond_0:1/RoCE", (0,)).replace("NET/IB/0", "NET/IBext_v10/0")
    seen = network(log)
    assert (seen.given, seen.used, seen.transports) == (
        ("mlx5_bond_0", "rocep26s0"),
        ("rocep26s0",),
        ("IBext_v10",),
    )


def test_ranks_send_each_other_only_lines_of_the_network() -> None:
    log = f"n1:31:31 [0] NCCL INFO cudaDriverVersion 13010\n{SOCKETS}"
    assert of_network(log) == SOCKETS.rstrip("\n")
    assert network(of_network(rank(0))) == network(rank(0))


def test_the_report_is_a_table_and_one_line_of_json() -> None:
    lines = list(report(IB, FAST, ["n2: too slow"], 16))
    assert [one.split()[0] for one in lines[1:3]] == ["1", "8"]
    assert lines[-2] == "FAILED: n2: too slow"
    said = json.loads(lines[-1])
    assert (said["ok"], said["ranks"], said["atLeast"], len(said["sizes"])) == (False, 16, 160.0, 2)
    assert said["busbw"] == round(FAST[1].busbw, 2)
    empty = list(report(Asked(), [], [], 8))
    assert empty[1] == "no threshold was given: bandwidth is measured, not judged"
    assert json.loads(empty[-1])["busbw"] is None


def test_sizes_are_written_as_people_do() -> None:
    assert [human(2**one) for one in (3, 10, 19, 20, 33)] == ["8 B", "1 KiB", "512 KiB", "1 MiB", "8 GiB"]


def test_the_command_line_says_what_is_asked() -> None:
    assert arguments(["--at-least=320.0", "--rails=2", "--hca=mlx5_0", "--hca=mlx5_1"]) == (
        Asked(320.0, 2, ("mlx5_0", "mlx5_1")),
        2**33,
    )
    assert arguments([]) == (Asked(), 2**33)
    with pytest.raises(SystemExit):
        arguments(["--rails=many"])

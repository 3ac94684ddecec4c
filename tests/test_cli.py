"""What a person types, and what comes back."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.stack_files import FIXTURES, PROJECT

if TYPE_CHECKING:
    from pathlib import Path

BROKEN = FIXTURES / "invalid" / "unknown-key.yaml"
WARNING = FIXTURES / "warning" / "preview-offline.yaml"
GOOD = FIXTURES / "valid" / "three-lines.yaml"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "gpu_platform", *map(str, arguments)]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=30)
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("check", GOOD), 0),
        (("check", BROKEN), 1),
        (("check", WARNING), 0),
        (("check", WARNING, "--strict"), 1),
        (("check", "no-such-stack"), 2),
        (("check", FIXTURES), 2),
        (("render", BROKEN), 1),
        (("render", GOOD, "--nccl-test"), 2),
        (("render", GOOD, "--accept", "gpu-0"), 2),
        (("render", GOOD, "--accept", "gpu-01"), 0),
        (("render", GOOD, "--accept", "gpu-01", "--nccl-test"), 2),
        (("render", GOOD, "--pool", "h100"), 2),
        (("render", "prod", "--nccl-test", "--nodes", "0"), 2),
        (("render", "prod", "--nccl-test", "--pool", "h100-serve"), 2),
        (("render", "prod", "--accept", "serve-01"), 2),
        (("explain", BROKEN), 1),
        (("schematic", BROKEN), 1),
        (("schematic",), 2),
        (("schematic", GOOD, "--pool", "nope"), 2),
        (("schematic", "--file", BROKEN), 2),
        (("explain", GOOD, "fabric"), 2),
        (("explain", GOOD, "fabric", "--svg", "never-written.svg"), 2),
        (("explain", "prod", "--svg", "never-written.svg"), 2),
        (("explain", "prod", "fabric", "--svg", FIXTURES), 2),
        (("review", "no-such-file"), 2),
        (("review", GOOD), 2),
        (("rules",), 0),
        (("schema",), 0),
        (("nonsense",), 2),
    ],
)
def test_exit_states(arguments: tuple[object, ...], status: int) -> None:
    assert run(*arguments).returncode == status


def test_check_prints_one_line_a_finding_and_the_count() -> None:
    assert run("check", BROKEN).stdout.splitlines() == [
        "error CFG-001 cluster.talosVerson: unknown key; did you mean talosVersion?",
        "1 errors, 0 warnings",
    ]


def test_check_as_json_has_five_keys() -> None:
    found = json.loads(run("check", BROKEN, "--json").stdout)
    assert [set(one) for one in found] == [{"rule", "severity", "path", "message", "fix"}]


def test_render_writes_files_that_are_yaml(tmp_path: Path) -> None:
    assert run("render", "prod", "--output", tmp_path).returncode == 0
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.yaml"))
    assert "gpu-operator/releases/gpu-operator.values.yaml" in written
    assert "schematics/h100-train.yaml" in written
    for path in tmp_path.rglob("*.yaml"):
        assert list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def test_render_prints_what_proves_a_fabric_and_what_accepts_a_machine(tmp_path: Path) -> None:
    found = list(yaml.safe_load_all(run("render", "prod", "--nccl-test", "--pool", "h100-train").stdout))
    assert [one["kind"] for one in found] == ["ConfigMap", "Service", "Job"]
    compile(found[0]["data"]["all_reduce.py"], "all_reduce.py", "exec")
    assert found[2]["spec"]["completions"] == 7
    found = list(yaml.safe_load_all(run("render", "prod", "--accept", "gpu-b-04").stdout))
    assert [one["kind"] for one in found] == ["ConfigMap", "Job"]
    assert run("render", "prod", "--accept", "gpu-c-01", "--output", tmp_path).returncode == 0
    assert (tmp_path / "job-accept-gpu-c-01.yaml").is_file()
    wrong = run("render", "prod", "--accept", "gpu-c-1")
    assert wrong.stderr == "there is no node gpu-c-1 in this stack: did you mean gpu-c-01?\n"


def test_schematic_of_a_file_and_of_a_pool_agree(tmp_path: Path) -> None:
    shown = json.loads(run("schematic", "prod", "--pool", "h100-train", "--json").stdout)["h100-train"]
    (tmp_path / "mine.yaml").write_text(shown["schematic"])
    again = json.loads(run("schematic", "--file", tmp_path / "mine.yaml", "--json").stdout)["mine.yaml"]
    assert again == shown


def test_explain_names_installer_driver_and_what_is_off() -> None:
    text = run("explain", FIXTURES / "valid" / "phase-image.yaml").stdout
    assert "factory.talos.dev/metal-installer/" in text
    assert "595.91.07 (production, open modules)" in text
    assert "off, because cluster.phase is image" in text


def test_explain_draws_the_fabric_and_shows_it_as_a_table(tmp_path: Path) -> None:
    golden = PROJECT / "tests" / "golden" / "fabric.prod.svg"
    assert run("explain", "prod", "fabric", "--svg", tmp_path / "fabric.svg").returncode == 0
    assert (tmp_path / "fabric.svg").read_bytes() == golden.read_bytes()
    assert "0     0000:1a:00.0  mlx5_0" in run("explain", "prod", "fabric").stdout
    said = json.loads(run("explain", "prod", "fabric", "--json").stdout)
    assert json.loads(run("explain", "prod", "fabric", "--json", "--svg", tmp_path / "fabric.svg").stdout) == said
    assert said["pools"]["h100-train"]["nodes"]["gpu-b-04"] == {"state": "quarantined", "rack": "r2", "leaf": "l2"}
    refused = run("explain", "prod", "fabric", "--svg", tmp_path / "nowhere" / "fabric.svg").stderr
    assert refused.splitlines()[-1].endswith("fabric.svg cannot be written: No such file or directory")


def test_nic_profile_prints_what_a_pool_writes_or_why_it_cannot(tmp_path: Path) -> None:
    spec = "{type: infiniband, driver: mlx5_core, busPath: '0000:1a:00.0', pciID: '15B3:1021', linkState: true}"
    (tmp_path / "links.yaml").write_text(f"metadata: {{id: ibp26s0}}\nspec: {spec}\n---\n", encoding="utf-8")
    assert run("nic-profile", "--dump", tmp_path).returncode == 2
    (tmp_path / "addresses.yaml").write_text("", encoding="utf-8")
    text = run("nic-profile", "--dump", tmp_path).stdout
    assert text.splitlines()[0] == "# 0000:1a:00.0 ibp26s0 speaks InfiniBand"
    assert yaml.safe_load(text)["nics"]["rails"] == [{"pci": "0000:1a:00.0", "hca": "mlx5_0", "interface": "ibp26s0"}]
    assert json.loads(run("nic-profile", "--dump", tmp_path, "--json").stdout)["nics"]["fabric"] == "infiniband"
    (tmp_path / "links.yaml").write_text("a: [b", encoding="utf-8")
    assert run("nic-profile", "--dump", tmp_path).returncode == 2


def test_what_render_writes_for_three_vendors_is_a_golden() -> None:
    """Every value, object and label that a release of this program changes for existing stacks is seen in its diff."""
    golden = PROJECT / "tests" / "golden" / "render.three-vendors.yaml"
    assert run("render", FIXTURES / "valid" / "three-vendors.yaml").stdout == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("stack", ["prod", "staging", "sandbox"])
def test_what_check_says_of_the_projects_stacks_is_a_golden(stack: str) -> None:
    golden = PROJECT / "tests" / "golden" / f"check.{stack}.txt"
    assert run("check", stack).stdout == golden.read_text(encoding="utf-8")

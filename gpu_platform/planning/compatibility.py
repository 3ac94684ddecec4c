"""Releases that must not be combined: Talos, Kubernetes, operators."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning import inventory, matrix
from gpu_platform.planning.image.extensions import newest_of, talos_release
from gpu_platform.planning.operators.kinds import wanted
from gpu_platform.settings.base import minor, release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.root import Settings


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield every pair of releases that does not work together."""
    if settings.cluster is None:
        return
    for path, talos in _talos_versions(settings):
        yield from _talos(path, talos, pre_releases=settings.cluster.allow_pre_releases)
    if settings.cluster.phase == "full":
        yield from _operator_floor(settings)
        yield from _kubernetes(settings.cluster.kubernetes_version)
        yield from _operators(settings)
        yield from matrix.findings(settings)


def _talos_versions(settings: Settings) -> list[tuple[str, str]]:
    assert settings.cluster is not None  # noqa: S101 - checked by findings
    stated = [("cluster.talosVersion", settings.cluster.talos_version)]
    for name, pool in settings.inventory.pools.items() if settings.inventory else ():
        path = f"inventory.pools.{name}"
        stated += [(f"{path}.talosVersion", pool.talos_version)] if pool.talos_version else []
        stated += [
            (f"{path}.nodes.{node_name}.talosVersion", node.talos_version)
            for node_name, node in pool.nodes.items()
            if node.talos_version and inventory.state(node)["image"]
        ]
    return stated


def _talos(path: str, talos: str, *, pre_releases: bool) -> Iterator[Finding]:
    rows = facts.table("talos")["release"]
    oldest, newest = (
        min(minor(row["version"]) for row in rows),
        minor(facts.table("compat")["talos_known"]["newest_minor"] + ".0"),
    )
    if minor(talos) < oldest:
        yield finding(
            "IMG-001",
            path,
            f"Talos {talos} is older than what this platform knows",
            f"write {newest_of(oldest)} or newer",
        )
    elif minor(talos) > newest:
        yield finding(
            "IMG-001",
            path,
            f"Talos {talos} is newer than what this platform knows",
            f"write {newest_of(newest)} or older",
        )
    elif re.search(r"-", talos) and not pre_releases:
        fix = "write a release, or cluster.allowPreReleases: true"
        yield finding("IMG-003", path, f"Talos {talos} is a pre-release", fix)
    elif talos_release(talos) is None:
        same = sorted((row["version"] for row in rows if minor(row["version"]) == minor(talos)), key=release)
        known = f"v{same[-1]} is the newest that is known" if same else "no release of that minor is known"
        yield finding(
            "IMG-002",
            path,
            f"driver versions of Talos {talos} are not known here ({known})",
            "check them at the factory",
        )


def _operator_floor(settings: Settings) -> Iterator[Finding]:
    floor = facts.table("compat")["gpu_operator_on_talos"]["talos"]
    oldest = minor(f"{floor}.0")
    for name, pool in inventory.nvidia_pools(settings).items():
        goal = inventory.talos_version(settings, pool)
        if goal and minor(goal) < oldest and any(inventory.state(node)["joined"] for node in pool.nodes.values()):
            message = f"the GPU operator does not find the driver on Talos {goal}"
            fix = f"write talosVersion: {newest_of(oldest)} or newer for this pool"
            yield finding("COMPAT-001", f"inventory.pools.{name}", message, fix)
            continue
        for node_name, node in pool.nodes.items():
            talos = inventory.talos_version(settings, pool, node)
            if talos and inventory.state(node)["joined"] and minor(talos) < oldest:
                message = f"the GPU operator does not find the driver on Talos {talos}: this node hands out no GPUs"
                path = f"inventory.pools.{name}.nodes.{node_name}.talosVersion"
                yield finding("COMPAT-005", path, message, f"upgrade it to {newest_of(oldest)} or newer")


def _kubernetes(version: str | None) -> Iterator[Finding]:
    row = facts.table("compat")["kubernetes"]
    floor, ceiling = row["floor"], row["ceiling"]
    if version and not minor(f"{floor}.0") <= minor(version) <= minor(f"{ceiling}.0"):
        message = f"the operators are made for Kubernetes {floor} to {ceiling}, not {version}"
        yield finding("COMPAT-003", "cluster.kubernetesVersion", message, "choose a release in that range")


def _operators(settings: Settings) -> Iterator[Finding]:
    for name, operator in wanted(settings).items():
        row, path = facts.table("catalog")["operator"][name], f"operators.{name}"
        if operator.manage == "existing" and operator.version is None:
            message = f"{name} exists already, in a version that nobody knows"
            yield finding("CFG-015", path, message, f"write version:, such as {row['version']}")
        if operator.version and release(operator.version) < release(row["floor"]):
            message = f"{name} {operator.version} is below its floor {row['floor']} ({row['source']})"
            yield finding("COMPAT-002", f"{path}.version", message, f"write {row['version']}")

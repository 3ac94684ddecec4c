"""One pool or node, explained."""

from __future__ import annotations

import pytest

from gpu_platform.reports.explain import as_json as whole_stack
from gpu_platform.reports.explain_subject import UnknownSubjectError, as_json, for_people
from tests.stack_files import document, good, pool

PLAN = good(
    document(
        inventory=pool(
            nodes={"gpu-01": {"rack": "r1"}, "gpu-02": {"talosVersion": "v1.13.8"}},
            image={"kernelArgs": ["iommu=pt"], "rdma": ["mlx5"], "sysctls": {"vm.nr_hugepages": "64"}},
        )
    )
)


def test_a_pool_shows_every_class_and_why_each_part_is_there() -> None:
    said = as_json(PLAN, "pool/h100")
    assert list(said) == [
        "pool h100",
        "image class h100 (Talos v1.13.9, amd64)",
        "image class h100-v1.13.8 (Talos v1.13.8, amd64)",
    ]
    image = said["image class h100 (Talos v1.13.9, amd64)"]
    assert "nvidia-gdrdrv-device (NCCL's GPUDirect over RDMA needs GDRCopy)" in image["extensions"]
    assert "nvidia-fabricmanager-production 595.91.07 (boards of h100-sxm-80gb have NVSwitches)" in image["extensions"]
    assert image["kernel args"] == "iommu=pt (inventory.pools.h100.image.kernelArgs[0])"
    assert "gdrdrv dbg_enabled=0 info_enabled=0 use_persistent_mapping=1" in image["modules"]
    assert image["sysctls"] == "vm.nr_hugepages=64"
    assert said["pool h100"]["nodes"] == "gpu-01 (active), gpu-02 (active)"


def test_a_node_shows_its_labels_and_its_class() -> None:
    said = as_json(PLAN, "gpu-01")
    assert said["node gpu-01"]["image class"] == "h100"
    assert "gpu-platform/rack=r1" in said["node gpu-01"]["labels"]


def test_a_pool_without_images_says_so() -> None:
    plan = good(document(inventory={"pools": {"a": {"os": "other", "nodes": ["n1"]}}}))
    assert as_json(plan, "a")["pool a"]["image"].startswith("none")


def test_long_references_are_never_folded() -> None:
    shown = "\n".join(str(one) for one in for_people(PLAN, "h100"))
    for image in PLAN.image.classes:
        assert f"  {image.boot.installer}\n" in shown


def test_an_unknown_subject_names_what_there_is() -> None:
    with pytest.raises(UnknownSubjectError, match=r"there is no h10 in this stack: did you mean pool/h100\?"):
        as_json(PLAN, "h10")


def test_cards_are_drawn_with_what_is_left() -> None:
    layouts = {"mixed": {"0-3": ["2g.20gb", "3g.40gb"], "4-7": []}}
    plan = good(document(inventory=pool(nodes=["n1"], mig={"layout": "mixed"}), gpu={"mig": {"layouts": layouts}}))
    said = as_json(plan, "node/n1")
    assert said["node n1"]["handed out"] == "4 nvidia.com/gpu, 4 nvidia.com/mig-2g.20gb, 4 nvidia.com/mig-3g.40gb"
    drawn = said["layout mixed"]
    bar, told = drawn["GPU 0-3"].rsplit("|", 1)
    assert told.strip() == "5 of 7 compute slices, 6 of 8 memory slices"
    assert [cell.strip(" .") for cell in bar.split("|")[1:]] == ["", "2g.20gb", "3g.40gb"]
    assert drawn["GPU 4-7"] == "whole"


def test_a_queue_says_what_it_has_and_how_long_its_gang_waits() -> None:
    plan = good(
        document(
            inventory=pool(nodes={f"n{n}": {"leaf": f"l{n % 2}"} for n in range(4)}),
            training={
                "queues": {"research": {"pools": "h100", "namespaces": "team", "hold": "hold"}},
                "lend": {"h100": {"floor": 8, "namespaces": "models", "scavengers": "scavengers"}},
                "jobs": {"big": {"queue": "research", "nodes": 3, "longestHours": 12}},
            },
        )
    )
    said = as_json(plan, "queue/research")
    assert said["queue research"]["cards"] == "24 nvidia.com/gpu of h100"
    assert said["queue research"]["largest job"] == "3 nodes"
    assert "12 h at most" in said["queue research"]["wait"]
    assert said["queue research"]["order"] == "StrictFIFO, held: it starts nothing more"
    assert said["flavor h100 of pool h100"]["levels"] == "gpu-platform/leaf > kubernetes.io/hostname"
    whole = whole_stack(plan)["queues"]
    assert "ends jobs of h100-scavenger alone, which have 30 s" in whole["lent (h100)"]
    assert whole["counted"] == "nvidia.com/gpu"
    with pytest.raises(UnknownSubjectError, match="did you mean queue/research"):
        as_json(plan, "queue/reserch")

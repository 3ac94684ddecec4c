"""What a change means to machines, from the outputs before and after."""

from __future__ import annotations

from typing import Any

from gpu_platform.outputs import PlatformOutputs, outputs_of
from gpu_platform.reports.node_changes import class_changes, grouped, impossible, node_changes
from tests.stack_files import document, good, pool

NONE: frozenset[str] = frozenset()


def outputs(talos: str = "v1.13.9", **keys: Any) -> PlatformOutputs:
    cluster = {"name": "lab", "talosVersion": talos, "phase": "image"}
    return outputs_of(good(document(cluster=cluster, inventory=pool(**keys))))


def test_nothing_changes_nothing() -> None:
    assert node_changes(outputs(), outputs(), NONE) == ()
    assert class_changes(outputs(), outputs()) == ()
    assert list(impossible(outputs(), outputs(), NONE)) == []


def test_the_first_up_of_a_stack_upgrades_nobody() -> None:
    assert node_changes(None, outputs(), NONE) == ()
    assert [one.schematic.split(" ")[0] for one in class_changes(None, outputs())] == ["new"]


def test_an_upgrade_names_installer_extensions_and_driver_old_and_new() -> None:
    old, new = outputs("v1.13.8"), outputs("v1.13.9")
    (node,) = node_changes(old, new, NONE)
    assert node.reboots
    assert node.gpus == 8
    assert str(new.nodes["gpu-01"].installer) in node.reason
    (image,) = class_changes(old, new)
    assert "driver 595.71.05 → 595.91.07" in image.details
    assert "nvidia-fabricmanager-production 595.71.05 → 595.91.07" in image.details
    assert [one.rule for one in impossible(old, new, NONE)] == ["IMG-034"]


def test_an_order_that_the_factory_does_not_see_is_no_change() -> None:
    names = ["siderolabs/iscsi-tools", "siderolabs/gvisor"]
    old, new = (outputs(image={"extensions": listed}) for listed in (names, names[::-1]))
    assert node_changes(old, new, NONE) == ()
    assert class_changes(old, new) == ()


def test_secure_boot_is_an_error_unless_nodes_are_installed_afresh() -> None:
    old, new = outputs(), outputs(image={"secureBoot": {}})
    assert [one.rule for one in impossible(old, new, NONE)] == ["IMG-035"]
    assert list(impossible(old, new, frozenset({"h100"}))) == []
    (image,) = class_changes(old, new)
    assert "secure boot on" in image.details
    (node,) = node_changes(old, new, frozenset({"h100"}))
    assert node.reason == f"is installed afresh from {new.nodes['gpu-01'].installer}, its disk is lost"


def test_a_label_reboots_nobody() -> None:
    (node,) = node_changes(outputs(), outputs(labels={"example.com/a": "b"}), NONE)
    assert not node.reboots


def test_a_node_that_leaves_or_comes_is_told() -> None:
    one, two = outputs(nodes=["gpu-01"]), outputs(nodes=["gpu-01", "gpu-02"])
    assert grouped(node_changes(two, one, NONE)) == ["gpu-02 (8 GPUs): leaves the inventory; nothing switches it off"]
    assert node_changes(one, two, NONE)[0].reason.startswith("is new: install it from ")
    three = outputs(nodes={"gpu-01": {"state": "retired"}})
    assert [change.reason for change in node_changes(one, three, NONE)] == ["is retired: it gets no image"]


def cut(layouts: dict[str, list[str]], choices: dict[str, str | None], model: str = "h100-sxm-80gb") -> PlatformOutputs:
    nodes = {name: {"mig": {"layout": layout}} for name, layout in choices.items()}
    inventory = pool(gpu={"model": model}, nodes=nodes)
    return outputs_of(good(document(inventory=inventory, gpu={"mig": {"layouts": layouts}})))


def test_cards_that_are_cut_anew_want_a_drain_and_some_a_reboot() -> None:
    layouts = {"a": ["7g.80gb"], "b": ["4g.40gb", "3g.40gb"]}
    old, new = cut(layouts, {"n1": "a", "n2": "a"}), cut(layouts, {"n1": "b", "n2": "a"})
    (node,) = node_changes(old, new, NONE)
    assert (node.name, node.reboots) == ("n1", False)
    assert node.reason == "its cards are cut anew, a → b: drain it first"
    ampere = [cut(layouts, {"n1": layout}, "a100-sxm-80gb") for layout in ("a", None)]
    (node,) = node_changes(ampere[0], ampere[1], NONE)
    assert node.reboots
    assert node.reason == "its cards are cut anew, a → whole: drain it first, it reboots for it"


def test_a_layout_may_be_edited_while_nobody_uses_it_and_nodes_may_move_to_it() -> None:
    old, edited = {"a": ["7g.80gb"], "b": ["7g.80gb"]}, {"a": ["4g.40gb", "3g.40gb"], "b": ["7g.80gb"]}
    assert [one.rule for one in impossible(cut(old, {"n1": "a"}), cut(edited, {"n1": "a"}), NONE)] == ["MIG-008"]
    assert list(impossible(cut(old, {"n1": "b"}), cut(edited, {"n1": "b"}), NONE)) == []
    assert list(impossible(cut(old, {"n1": "b"}), cut(edited, {"n1": "a"}), NONE)) == []


def test_a_node_that_is_upgraded_and_cut_anew_is_told_both() -> None:
    nodes = {"n1": {"mig": {"layout": "a"}}, "n2": {}, "n3": {}}
    gpu = {"mig": {"layouts": {"a": ["7g.80gb"]}}}
    old = outputs("v1.13.8", nodes=["n1", "n2", "n3"])
    cluster = {"name": "lab", "talosVersion": "v1.13.9", "phase": "image"}
    new = outputs_of(good(document(cluster=cluster, inventory=pool(nodes=nodes), gpu=gpu)))
    first, second = grouped(node_changes(old, new, NONE))
    assert first.startswith("**reboots** n1 (8 GPUs): needs `talosctl upgrade")
    assert first.endswith("; its cards are cut anew, whole → a: drain it first")
    assert second.startswith("**reboots** n2, n3 (16 GPUs): needs `talosctl upgrade")

"""VFs that a machine makes for itself: asked by its configuration, found on the bus, handed out by the plugin."""

import json
from typing import Any

import pytest

from sandbox.devices.decide import RAILS, Published
from sandbox.devices.machine_config import read
from sandbox.devices.ports import VFS, functions, ports
from tests.sandbox.device_objects import Object
from tests.sandbox.test_devices_boot import LEGACY, booted
from tests.sandbox.test_devices_fabric import NOTES, found, policy, rails

FIRST, SECOND = "0000:1a:00.0", "0000:3c:00.0"
EIGHT = {VFS: json.dumps({FIRST: 8, SECOND: 8})}
KEY = f"bus/pci/devices/{FIRST}/sriov_numvfs"


def entry(name: str = "rail_0", **more: Any) -> Object:
    stated = {"isRdma": True, **more.pop("selectors", {"rootDevices": [FIRST]})}
    return {"resourceName": name, "deviceType": "netDevice", "selectors": stated, **more}


def static(*entries: Object, more: dict[str, str] | None = None, fabric: str = "infiniband") -> Published:
    one = policy("sriovDevicePlugin", {"resourceList": list(entries)})
    return found(one, fabric, more=EIGHT if more is None else more)


def test_the_configuration_asks_for_vfs_in_either_place() -> None:
    legacy = f'{LEGACY}  sysfs: {{"{KEY}": "8", "bus/pci/devices/x": "1"}}\n'
    assert json.loads(booted(legacy).annotations[VFS]) == {FIRST: 8}
    assert VFS not in booted(LEGACY).annotations
    document = f'apiVersion: v1alpha1\nkind: SysfsConfig\nparams: {{"{KEY}": "4"}}\n'
    assert read(document, "v1.14.1").sysfs == {KEY: "4"}
    assert "unknown kind SysfsConfig" in (read(document, "v1.13.9").refused or "")
    assert "unknown key SysfsConfig.keys" in (read(document.replace("params", "keys"), "v1.14.1").refused or "")


def test_a_key_that_begins_with_dots_is_another_file() -> None:
    dotted = f'machine: {{sysfs: {{"bus.pci.devices.{FIRST}.sriov_numvfs": "8", "a.b/c.d": "1"}}}}'
    assert read(dotted, "v1.13.9").sysfs == {"bus/pci/devices/0000:1a:00/0/sriov_numvfs": "8", "a/b.c/d": "1"}


def test_vfs_come_after_the_ports_of_their_slot() -> None:
    every = functions(ports({**NOTES, VFS: json.dumps({FIRST: 8})}))
    virtual = [one for one in every if one.parent]
    assert [one.pci for one in virtual][:2] == ["0000:1a:00.1", "0000:1a:00.2"]
    assert virtual[7].pci == "0000:1a:01.0"
    assert {one.device for one in virtual} == {"101e"}
    assert virtual[0].interface == "ibp26s0v0"
    assert len({one.pci for one in every}) == len(every)


def test_vfs_of_a_root_are_handed_out_and_the_root_is_not() -> None:
    done = static(entry(), entry("rail_1", selectors={"rootDevices": [SECOND]}))
    assert rails(done) == {"nvidia.com/rail_0": "8", "nvidia.com/rail_1": "8"}
    assert done.annotations[RAILS] == "16 VFs of 2 ports handed out as 2 resources"
    assert {one.parent.pci for one in done.devices["nvidia.com/rail_0"] if one.parent} == {FIRST}


@pytest.mark.parametrize(
    ("selectors", "count"),
    [
        ({"rootDevices": [f"{FIRST}#0-3"]}, "4"),
        ({"rootDevices": [f"{FIRST}#0,6-9"]}, "3"),
        ({"pfNames": ["ibp26s0#0-5"]}, "6"),
        ({"pfNames": ["ibp26s0"], "devices": ["101e"]}, "8"),
        ({"pciAddresses": ["0000:1a:00.3"]}, "1"),
    ],
)
def test_selectors_choose_vfs(selectors: Object, count: str) -> None:
    assert rails(static(entry(selectors=selectors))) == {"nvidia.com/rail_0": count}


def test_a_function_goes_to_the_first_that_asks() -> None:
    halves = static(entry("a", selectors={"rootDevices": [f"{FIRST}#0-3"]}), entry("b"))
    assert rails(halves) == {"nvidia.com/a": "4", "nvidia.com/b": "4"}


@pytest.mark.parametrize(
    ("entries", "more", "reason"),
    [
        ([entry(selectors={"pciAddresses": [FIRST]})], None, f"{FIRST} has VFs, so it is not handed out itself"),
        ([entry(selectors={"rootDevices": [f"{FIRST}#0-3"]})], {}, "no VF is where its selectors look"),
        ([entry(selectors={"rootDevices": [f"{FIRST}#a"]})], None, "has no range of VFs after #"),
        ([entry(deviceType="accelerator")], None, "deviceType accelerator"),
        ([entry(), entry()], None, "nvidia.com/rail_0 stands twice"),
        ([entry(selectors={"devices": ["101e"]})], {VFS: json.dumps({FIRST: 17})}, "its firmware holds 16"),
        ([entry()], {VFS: json.dumps({"0000:01:00.0": 1})}, "the machine has no such port"),
    ],
)
def test_a_reason_for_no_vfs_is_said(entries: list[Object], more: dict[str, str] | None, reason: str) -> None:
    assert reason in static(*entries, more=more).annotations[RAILS]


def test_a_port_without_vfs_is_handed_out_whole() -> None:
    assert rails(static(entry(), more={})) == {"nvidia.com/rail_0": "1"}

"""Server models: ports in the order of the bus, and names as the kernel's predictable scheme gives them."""

import json

import pytest

from sandbox.devices.ports import FABRIC, NICS, VFS, Port, functions, ports, servers


def there(model: str, fabric: str = "infiniband", **more: str) -> tuple[Port, ...]:
    return ports({NICS: model, FABRIC: fabric, **more})


@pytest.mark.parametrize(
    ("model", "rails", "others"),
    [
        ("xe9680-8rail-cx7", 8, 2),
        ("dell-xe9680-bf3", 8, 2),
        ("lenovo-sr680a-v3", 8, 4),
        ("cisco-ucsc-885a-m8", 8, 2),
        ("lenovo-sr675-v3", 8, 4),
        ("dgx-h100", 8, 4),
        ("dgx-gb200", 4, 4),
        ("gb300-compute-tray", 4, 0),
        ("oci-bm-gpu-h100-8", 16, 0),
        ("oci-bm-gpu-a100-v2-8", 16, 0),
        ("gb10-spark", 4, 0),
    ],
)
def test_a_model_has_its_ports(model: str, rails: int, others: int) -> None:
    found = there(model)
    assert (sum(one.on_fabric for one in found), sum(not one.on_fabric for one in found)) == (rails, others)


@pytest.mark.parametrize("model", servers())
@pytest.mark.parametrize("fabric", ["infiniband", "ethernet"])
def test_ports_are_in_the_order_of_the_bus_and_have_names_of_their_own(model: str, fabric: str) -> None:
    found = there(model, fabric)
    assert [one.pci for one in found] == sorted(one.pci for one in found)
    every = functions(there(model, fabric, **{VFS: json.dumps({one.pci: 8 for one in found})}))
    assert len(every) == 9 * len(found)
    assert len({one.interface for one in every}) == len({one.pci for one in every}) == len(every)
    assert all(len(one.interface) <= 15 for one in every)


def test_names_tell_domain_bus_slot_and_function() -> None:
    assert [one.interface for one in there("gb10-spark", "ethernet")] == [
        "enp1s0f0np0",
        "enp1s0f1np1",
        "enP2p1s0f0np0",
        "enP2p1s0f1np1",
    ]
    assert [one.interface for one in there("lenovo-sr675-v3")][:4] == [
        "ibp33s0",
        "ibp33s0f1",
        "enp65s0f0np0",
        "enp65s0f1np1",
    ]
    assert {one.device for one in there("dell-xe9680-bf3")} == {"a2dc"}

"""Ports of a sandbox's servers: free, distinct, and out of the kernel's way."""

from __future__ import annotations

import socket
from pathlib import Path

from sandbox.processes import free_ports


def test_ports_are_distinct_free_and_never_given_to_a_client_as_its_own_end() -> None:
    ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    ports = free_ports(50)
    assert len(set(ports)) == 50
    assert max(ports) < ephemeral
    for port in ports:
        with socket.socket() as one:
            one.bind(("127.0.0.1", port))

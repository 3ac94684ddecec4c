"""`python -m sandbox.devices STATE_DIR`: play the devices of one sandbox until ended."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from sandbox.devices.loop import Simulator
from sandbox.kube import Kube
from sandbox.state import State


def main(arguments: list[str]) -> int:
    """Run the simulator on the sandbox in the given state directory."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m sandbox.devices STATE_DIR\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Simulator(Kube.of(State.load(Path(arguments[0])))).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

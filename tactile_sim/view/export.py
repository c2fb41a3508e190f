"""Make films and replays of bags with ``tactile_sim plot`` in a process of its own."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from tactile_sim.bag.atomic_write import beside, unused
from tactile_sim.child import Child
from tactile_sim.errors import BagError

FILM, REPLAY = "film", "replay"
OPTIONS = {FILM: ("--video", ".mp4"), REPLAY: ("--html", ".html")}
"""Option of ``plot`` and ending of the file."""
NICENESS = 5
"""Lowers the priority of the process, so that the simulation and the view keep their pace."""
POLL_INTERVAL = 0.2
"""Wall time between two reports of the progress [s]."""


def export(bag: Path, kind: str, folder: Path, on_progress: Callable[[str], None]) -> Path:
    """Make a film or a replay of a bag and return its path.

    Args:
        bag: The bag.
        kind: `FILM` or `REPLAY`.
        folder: Folder of the new file, which gets the name of the bag, with a number if it is taken.
        on_progress: Called with lines such as ``40 % rendering``.

    Raises:
        BagError: The file cannot be made.
    """
    option, ending = OPTIONS[kind]
    out = unused(folder / beside(bag, ending).name)
    with Child("plot", str(bag.absolute()), option, str(out), "--progress") as child:
        os.setpriority(os.PRIO_PROCESS, child.pid, NICENESS)
        while child.returncode is None:
            time.sleep(POLL_INTERVAL)
            lines = [line for line in child.last_lines if re.match(r"\d+ % ", line)]
            on_progress(lines[-1] if lines else "starting")
        if child.returncode:
            last = (child.last_lines or [f"exit code {child.returncode}"])[-1]
            raise BagError(last.removeprefix("tactile_sim: error: "))
    return out

"""Create films and replays of bags by running ``tactile_sim plot`` in a separate process."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from tactile_sim.bag.atomic_write import beside, unused
from tactile_sim.common.errors import BagError
from tactile_sim.common.processes import Child

FILM, REPLAY = "film", "replay"
OPTIONS = {FILM: ("--video", ".mp4"), REPLAY: ("--html", ".html")}
"""Option of ``tactile_sim plot`` and extension of the output file, by kind of export."""
NICENESS = 5
"""Nice value of the process. Its low priority keeps it from slowing down the simulation and the view."""
POLL_INTERVAL = 0.2
"""Wall time between two reports of the progress [s]."""


def export(bag: Path, kind: str, folder: Path, on_progress: Callable[[str], None]) -> Path:
    """Create a film or a replay of a bag and return its path.

    Args:
        bag: Folder or MCAP file of the bag.
        kind: `FILM` or `REPLAY`.
        folder: Folder of the new file. The file is named after the bag, with a number if that name is in use.
        on_progress: Called with lines such as ``40 % rendering``.

    Raises:
        BagError: The file cannot be created.
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

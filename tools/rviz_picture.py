#!/usr/bin/env python3
"""Generate the figure of RViz in docs/start.md: python tools/rviz_picture.py. Requires xvfb and imagemagick.

Without RViz the existing figure is kept.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tactile_sim import config
from tactile_sim.common.processes import Child
from tactile_sim.figures.rviz_display import rviz_display

ROOT = Path(__file__).resolve().parent.parent
CONFIG = "touch_cube"
PICTURE = ROOT / "docs" / "images" / f"rviz_{CONFIG}.png"
WINDOW = "1200x846x24"
"""Size of the virtual screen and of the configured RViz window [pixels], and color depth [bits]."""
PATIENCE = 60.0
"""Maximum time for the node to start [s]."""
SETTLE = 10.0
"""Time for the cube to come to rest and for RViz to render it in software [s]."""


def start(stack: ExitStack, *command: str, **options: int) -> subprocess.Popen[str]:
    """Start a program and terminate it when the stack closes."""
    process = stack.enter_context(subprocess.Popen(command, text=True, **options))
    stack.callback(process.terminate)
    return process


def main() -> None:
    """Open the scene in RViz on a virtual display and save a screenshot."""
    missing = [program for program in ("rviz2", "Xvfb", "import") if shutil.which(program) is None]
    if missing:
        print(f"tools/rviz_picture.py: {PICTURE.name} is not updated; not installed: {', '.join(missing)}")
        return
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with ExitStack() as stack:
        screen = start(stack, "Xvfb", "-displayfd", "1", "-screen", "0", WINDOW, stdout=subprocess.PIPE)
        assert screen.stdout is not None
        os.environ |= {"DISPLAY": f":{screen.stdout.readline().strip()}", "LIBGL_ALWAYS_SOFTWARE": "1"}
        node = stack.enter_context(Child("run", CONFIG))
        end = time.monotonic() + PATIENCE
        while not any("steps/s" in line for line in node.last_lines):
            if node.returncode is not None or time.monotonic() > end:
                sys.exit(f"tools/rviz_picture.py: cannot start {CONFIG}: {node.last_lines[-1:]}")
            time.sleep(0.1)
        display = Path(stack.enter_context(TemporaryDirectory())) / f"{CONFIG}.rviz"
        display.write_text(rviz_display(config.load(CONFIG)).text)
        start(stack, "rviz2", "-d", str(display), stderr=subprocess.DEVNULL)
        time.sleep(SETTLE)
        subprocess.run(["import", "-window", "root", PICTURE], check=True)


if __name__ == "__main__":
    main()

"""Run the command line in processes without ROS."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

WITHOUT_ROS = (
    "import sys; sys.modules['rclpy'] = None; from tactile_sim.commands import main; sys.exit(main())"
)
SEVERAL = """
import contextlib, io, json, sys
sys.modules["rclpy"] = None
from tactile_sim.commands import main
results = []
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as error:
        code = main(arguments)
    results.append((code, out.getvalue(), error.getvalue()))
print(json.dumps(results))
"""


def command_without_ros(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process that cannot import rclpy."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_ROS, *arguments], capture_output=True, text=True, timeout=120
    )


def commands_without_ros(*commands: Sequence[str]) -> list[tuple[int, str, str]]:
    """Run commands in one process that cannot import rclpy; return exit code, output and errors of each."""
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL, json.dumps(commands)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)

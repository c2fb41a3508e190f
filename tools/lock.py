"""Pins what the lists in requirements/ need today: python tools/lock.py writes lock.txt."""

import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "requirements"
HEADER = """\
# Every package that the set-up may install, pinned, for CPython 3.11 to 3.13 on Linux x86-64.
# Made by tools/lock.py; used as constraints (pip install -c).
"""

LISTS = ("core", "analysis", "motrix", "dev", "ros")
ALONE = ("trifinger",)
"""Lists of packages that are installed without what they depend on."""


def resolved(names: tuple[str, ...], *options: str) -> dict[str, str]:
    """Versions by package of what pip would install today for these lists."""
    lists = [argument for name in names for argument in ("-r", str(FOLDER / f"{name}.txt"))]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    command = [*pip, "--report", "-", *options, *lists]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {package["metadata"]["name"]: package["metadata"]["version"] for package in report["install"]}


found = resolved(LISTS) | resolved(ALONE, "--no-deps")
pins = [f"{name}=={found[name]}\n" for name in sorted(found, key=str.lower)]
(FOLDER / "lock.txt").write_text(HEADER + "".join(pins))
print(f"{len(pins)} packages pinned")

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

LISTS = ("core", "motrix", "dev", "ros")

lists = [argument for name in LISTS for argument in ("-r", str(FOLDER / f"{name}.txt"))]
pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
report = json.loads(subprocess.run([*pip, *lists], check=True, stdout=subprocess.PIPE).stdout)
found = {package["metadata"]["name"]: package["metadata"]["version"] for package in report["install"]}
pins = [f"{name}=={found[name]}\n" for name in sorted(found, key=str.lower)]
(FOLDER / "lock.txt").write_text(HEADER + "".join(pins))
print(f"{len(pins)} packages pinned")

"""Install files into share/tactile_sim that pyproject.toml cannot list."""

from pathlib import Path

from setuptools import setup

SHARED = ("config", "launch", "layouts", "msg", "rviz", "scenes", "srv")
files = [
    path for kind in SHARED for path in Path(kind).rglob("*") if path.is_file() and path.suffix != ".pyc"
]

setup(data_files=[(f"share/tactile_sim/{path.parent}", [str(path)]) for path in sorted(files)])

"""What pyproject.toml cannot say: the files that go to share/tactile_sim."""

from pathlib import Path

from setuptools import setup

SHARED = ("config", "launch", "rviz", "scenes")
folders = sorted({path.parent for kind in SHARED for path in Path(kind).rglob("*") if path.is_file()})

setup(
    data_files=[
        (f"share/tactile_sim/{folder}", [str(path) for path in sorted(folder.iterdir()) if path.is_file()])
        for folder in folders
    ]
)

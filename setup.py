"""Build the C++ library and install files into share/tactile_sim, which pyproject.toml cannot list."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SHARED = ("config", "launch", "layouts", "msg", "rviz", "scenes", "srv")
files = [
    path for kind in SHARED for path in Path(kind).rglob("*") if path.is_file() and path.suffix != ".pyc"
]


# The native core fits only the MuJoCo for which it is compiled.
requirements = [
    re.sub(r"^mujoco\b.*", f"mujoco=={version('mujoco')}", line)
    for line in Path("requirements/core.txt").read_text().splitlines()
    if not line.startswith("#")
]


class CMakeBuild(build_ext):
    """Build `tactile_sim._core` with core/CMakeLists.txt."""

    def build_extension(self, ext: Extension) -> None:
        """Compile the extension into the folder from which setuptools installs it."""
        target = Path(self.get_ext_fullpath(ext.name)).resolve().parent
        build = Path(self.build_temp, "core")
        options = [f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={target}"]
        subprocess.run(["cmake", "-S", "core", "-B", str(build), *options], check=True)
        subprocess.run(["cmake", "--build", str(build), "--parallel", str(os.cpu_count())], check=True)
        subprocess.run(
            ["cmake", "--install", str(build), "--prefix", str(target), "--component", "cpp"], check=True
        )


setup(
    install_requires=requirements,
    data_files=[(f"share/tactile_sim/{path.parent}", [str(path)]) for path in sorted(files)],
    ext_modules=[Extension("tactile_sim._core", [])],
    cmdclass={"build_ext": CMakeBuild},
)

"""Pin the current versions of all requirements, with hashes: python tools/lock.py (needs uv)."""

import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.utils import parse_wheel_filename

FOLDER = Path(__file__).parents[1] / "requirements"
LOCK = FOLDER / "lock.txt"
HEADER = """\
# Every package that the set-up installs, pinned with the hashes of its files, for CPython 3.11 to 3.13 on
# Linux, x86-64 and arm64. Written by tools/lock.py. To install: pip install --no-deps --require-hashes -r
"""
EXTRAS_HEADER = """\
# Every package of .venv-{name}, pinned as in lock.txt. Written by tools/lock.py from {name}.in. To install:
# pip install --no-deps --require-hashes -r
"""
ROS, TESTS = "# Only where no ROS is sourced:\n", "# Only for tests and development:\n"
LISTS = ("core", "full", "build")
TEST_LISTS = ("analysis", "motrix", "robots", "learning", "dev")
ALONE = ("trifinger",)
"""Requirement lists whose packages are installed without their dependencies."""
DOCS = Path(__file__).parents[1] / "docs"
PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")


def resolved(lists: Sequence[str], *options: str) -> dict[str, list[dict[str, Any]]]:
    """Resolve requirement lists into packages by name, as entries of a PEP 751 lock file.

    A package has several entries, with mutually exclusive markers, if Python versions require different
    versions of it.
    """
    command = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", PYTHONS[0], *options]
    command += ["--format", "pylock.toml", *(str(FOLDER / f"{name}.txt") for name in lists)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    packages = tomllib.loads(output)["packages"]
    found: dict[str, list[dict[str, Any]]] = {}
    for package in packages:
        if needed(package.get("marker")):
            found.setdefault(package["name"], []).append(package)
    return found


def needed(marker: str | None) -> bool:
    """Return whether an environment marker is true for a supported machine and Python version."""
    linux = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
    return marker is None or any(
        Marker(marker).evaluate(
            linux
            | {"platform_machine": machine, "python_version": version, "python_full_version": f"{version}.0"}
        )
        for machine in MACHINES
        for version in PYTHONS
    )


def fits(wheel: str) -> bool:
    """Return whether a wheel can be installed on at least one supported machine."""
    pythons = {"py3", *(f"cp{version.replace('.', '')}" for version in PYTHONS)}
    return any(
        (tag.interpreter in pythons or tag.abi == "abi3")
        and (
            tag.platform == "any"
            or (tag.platform.startswith(("manylinux", "linux")) and tag.platform.endswith(MACHINES))
        )
        for tag in parse_wheel_filename(wheel)[3]
    )


def hashes(package: dict[str, Any]) -> Iterator[str]:
    """Yield the SHA-256 hashes of a package's source archive and of its wheels for supported machines."""
    for wheel in package.get("wheels", []):
        if fits(wheel["url"].rpartition("/")[2]):
            yield wheel["hashes"]["sha256"]
    if "sdist" in package:
        yield package["sdist"]["hashes"]["sha256"]


def lines(packages: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the lines of the lock file."""
    for name in sorted(packages):
        for package in packages[name]:
            marker = f" ; {package['marker']}" if "marker" in package else ""
            digests = "".join(f" --hash=sha256:{digest}" for digest in sorted(hashes(package)))
            yield f"{name}=={package['version']}{marker}{digests}\n"


def lock_docs() -> None:
    """Pin the packages that build the documentation; `make docs` adds them to the environment."""
    command = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", PYTHONS[0]]
    command += ["--generate-hashes", "--no-annotate", "--custom-compile-command", "python tools/lock.py"]
    command += ["requirements.in", "--output-file", "requirements.txt"]
    subprocess.run(command, check=True, cwd=DOCS)


def lock_extras() -> None:
    """Pin the packages that `make test-extras` installs, to the versions in the main lock file if possible.

    RLlib requires an older Gymnasium. mjlab requires an older MuJoCo, so it has a separate environment.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as same:
        same.writelines(line for line in LOCK.open() if not line.startswith("gymnasium=="))
        same.flush()
        for name, lists, constraint in (
            ("extras", ("core", "learning", "warp"), ["--constraint", same.name]),
            ("mjlab", ("core", "learning"), []),
        ):
            pinned = "".join(lines(resolved(lists, str(FOLDER / f"{name}.in"), *constraint)))
            (FOLDER / f"{name}.txt").write_text(EXTRAS_HEADER.format(name=name) + pinned)


def main() -> None:
    """Write all lock files."""
    lock_docs()
    everything = resolved([*LISTS, *TEST_LISTS, "ros"]) | resolved(ALONE, "--no-deps")
    common = resolved(LISTS).keys() | resolved(ALONE, "--no-deps").keys()
    with_ros = resolved([*LISTS, "ros"]).keys() - common
    sections: dict[str, dict[str, list[dict[str, Any]]]] = {HEADER: {}, ROS: {}, TESTS: {}}
    for name, package in everything.items():
        sections[HEADER if name in common else ROS if name in with_ros else TESTS][name] = package
    LOCK.write_text("".join(title + "".join(lines(packages)) for title, packages in sections.items()))
    lock_extras()
    print(f"{len(everything)} packages pinned")


main()

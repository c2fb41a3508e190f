"""Test that all requirements are pinned and that package.xml declares the ROS requirements."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.requirements import REQUIREMENTS, closure, lines

ROOT = Path(__file__).parents[1]
LOCKS = ("lock.txt", "extras.txt", "mjlab.txt")


def read_pins(name):
    """Return the SHA-256 hashes in a requirements file, by the pinned requirement that they belong to."""
    split = [line.split(" --hash=sha256:") for line in lines(REQUIREMENTS / name)]
    return {Requirement(pin): hashes for pin, *hashes in split}


@pytest.fixture(scope="module")
def pins():
    return read_pins("lock.txt")


@pytest.mark.parametrize("name", LOCKS)
def test_every_version_is_pinned_exactly_and_by_hash(name):
    pins = read_pins(name)
    assert all(re.fullmatch(r"==[0-9][0-9a-z.]*", str(pin.specifier)) for pin in pins)
    assert all(hashes for hashes in pins.values())
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for hashes in pins.values() for digest in hashes)


def test_every_requirement_is_pinned(pins):
    pinned = {canonicalize_name(pin.name) for pin in pins}
    in_extras = {canonicalize_name(pin.name) for pin in read_pins("extras.txt")}
    for file in REQUIREMENTS.glob("*.txt"):
        if file.name not in LOCKS:
            names = {canonicalize_name(Requirement(line).name) for line in lines(file)}
            assert names <= (in_extras if file.name == "warp.txt" else pinned)


def test_extras_have_the_versions_of_the_main_lock(pins):
    versions = {canonicalize_name(pin.name): pin.specifier for pin in pins if pin.marker is None}
    extras = {canonicalize_name(pin.name): pin.specifier for pin in read_pins("extras.txt")}
    common = versions.keys() & extras.keys()
    assert len(common) > 20 and all(extras[name] == versions[name] for name in common)
    extra = {canonicalize_name(Requirement(line).name) for line in lines(REQUIREMENTS / "extras.in")}
    assert extra <= extras.keys()


def test_all_dependencies_of_the_core_are_pinned(pins):
    needed = {canonicalize_name(dist.name) for dist in closure(lines(REQUIREMENTS / "core.txt"))}
    assert needed <= {canonicalize_name(pin.name) for pin in pins}


def test_package_xml_declares_packages_found_by_cmake():
    commands = re.findall(r"find_package\((\w+)", (ROOT / "CMakeLists.txt").read_text())
    assert set(commands) - set(dependencies("buildtool_", "build_", "test_", "")) == set()
    # If the ROS messages were missing at build time, a copy of them would be installed.
    assert "tf2_msgs" in dependencies("")


def test_package_xml_declares_python_packages_of_rosdep():
    keys = {"numpy": "numpy", "pil": "pillow", "rich": "rich", "scipy": "scipy", "yaml": "pyyaml"}
    assert set(keys.values()) <= {
        canonicalize_name(Requirement(line).name) for line in lines(REQUIREMENTS / "core.txt")
    }
    assert {f"python3-{key}" for key in keys} <= set(dependencies("exec_"))


def dependencies(*kinds):
    """Return the packages that package.xml declares with ``<KINDdepend>``.

    An empty kind selects ``<depend>``, which declares a dependency of every kind except ``test_``.
    """
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    return [element.text for kind in kinds for element in manifest.findall(f"{kind}depend")]

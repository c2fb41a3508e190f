"""Test the package after an installation with pip and without ROS: core, command and shared files."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from support.requirements import REQUIREMENTS, closure, lines

import tactile_sim

ROOT = Path(__file__).parents[1]
COMPILED = {".pyc", ".pyo"}
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "install", "log")
HIDDEN = (
    "PYTHONPATH",
    "AMENT_PREFIX_PATH",
    "LD_LIBRARY_PATH",
    "ROS_DISTRO",
    "_ROS_WHEELS_BOOTSTRAP_COMPLETE",
)


def top_level(dist):
    """Return the top-level files and folders of a distribution.

    Debian packages do not list their files; for these, ``top_level.txt`` or the name is used.
    """
    if dist.files is None:
        return (dist.read_text("top_level.txt") or dist.name).split()
    return {file.parts[0] for file in dist.files} - {"..", "__pycache__"}


@pytest.fixture(scope="module")
def source_distribution(tmp_path_factory):
    """Return the archive of the source distribution, built from a copy of the repository."""
    folder = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT, folder / "source", ignore=LEFT_OUT)
    program = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    run([sys.executable, "-c", program, str(folder)], check=True, cwd=folder / "source")
    return next(folder.glob("tactile_sim-*.tar.gz"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory, source_distribution):
    """Return a virtual environment with only the installed package and its requirements, without ROS."""
    folder = tmp_path_factory.mktemp("pip")
    venv = folder / "venv"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    options = ["--no-deps", "--no-index", "--no-build-isolation"]
    run([*pip, "wheel", *options, "--wheel-dir", str(folder), str(source_distribution)])
    run([sys.executable, "-m", "venv", "--without-pip", str(venv)])
    wheel = next(folder.glob("tactile_sim-*.whl"))
    run([*pip, "--python", str(venv / "bin/python"), "install", "--no-deps", "--no-index", str(wheel)])

    add(venv, "core.txt")
    return venv


@pytest.fixture(scope="module")
def installed_full(installed, tmp_path_factory):
    """Return the same environment with the extra ``full``."""
    venv = tmp_path_factory.mktemp("full") / "venv"
    shutil.copytree(installed, venv, symlinks=True)
    add(venv, "full.txt")
    return venv


def add(venv, name):
    """Link the packages in a requirements file, and all that they need, into a virtual environment."""
    site = next(venv.glob("lib/python3*/site-packages"))
    for dist in closure(lines(REQUIREMENTS / name)):
        for top in top_level(dist):
            link = site / top
            if not link.exists():
                link.symlink_to(Path(dist.locate_file(top)))


def run(command, **options):
    """Run a command as if neither ROS nor another tactile_sim were installed; return its result."""
    environment = {key: value for key, value in os.environ.items() if key not in HIDDEN}
    options.setdefault("check", False)
    result = subprocess.run(command, capture_output=True, text=True, env=environment, **options)
    assert "cwd" in options or result.returncode == 0, result.stdout + result.stderr
    return result


def test_installed_command_prints_its_version(installed, tmp_path):
    result = run([installed / "bin/tactile_sim", "--version"], cwd=tmp_path)
    assert result.stdout == f"tactile_sim {tactile_sim.__version__}\n"


def test_installed_command_finds_shipped_scenes(installed, tmp_path):
    result = run([installed / "bin/tactile_sim", "info", "touch_cube"], cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert "cube" in result.stdout


@pytest.mark.parametrize("command", [["view", "touch_cube"], ["plot", "bag"], ["bag", "info", "bag"]])
def test_installed_command_names_the_extra_that_it_needs(installed, command, tmp_path):
    (tmp_path / "bag").mkdir()
    (tmp_path / "bag" / "bag_0.mcap").write_bytes(b"")
    result = run([installed / "bin/tactile_sim", *command], cwd=tmp_path)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert "not installed" in result.stderr.splitlines()[-1]
    assert "pip install" in result.stderr.splitlines()[-1]


def test_installed_command_reports_missing_ros(installed, tmp_path):
    result = run([installed / "bin/tactile_sim", "run", "touch_cube"], cwd=tmp_path)
    assert result.returncode == 2
    assert "rclpy" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["export", "plot"])
def test_installed_command_reads_a_bag(installed_full, command, fall, tmp_path):
    actions = {"export": ["bag", "export", fall, "-o", tmp_path / "out.npz"]}
    actions["plot"] = ["plot", fall, "forces", "-o", tmp_path]
    result = run([installed_full / "bin/python", "-m", "tactile_sim", *actions[command]], cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == [tmp_path / {"export": "out.npz", "plot": "forces.png"}[command]]


@pytest.mark.parametrize("action", [["bag", "export"], ["bag", "info"], ["plot"]])
def test_missing_rosbags_gives_one_error_line(fall, tmp_path, action):
    program = """
import sys
class Absent:
    def find_spec(name, *_):
        if name == "rosbags":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Absent)
from tactile_sim.commands import main
sys.exit(main())
"""
    result = subprocess.run(
        [sys.executable, "-c", program, *action, fall],
        cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert result.returncode == 2
    [line] = result.stderr.splitlines()
    assert "rosbags" in line and "pip install rosbags" in line


def test_all_other_packages_import_without_ros(installed_full, tmp_path):
    program = """
import importlib, pkgutil, sys, tactile_sim
def walk(package):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        own = module.name.removeprefix("tactile_sim.")
        if own in ("ros", "learning", "batch.warp", "batch.mjlab"):
            continue  # need ROS, gymnasium, MuJoCo Warp, mjlab
        if not module.name.endswith("__main__"):
            imported = importlib.import_module(module.name)
            if module.ispkg:
                walk(imported)
walk(tactile_sim)
print(*sorted(name for name in sys.modules if name.startswith(("tactile_sim", "rclpy"))))
"""
    result = run([installed_full / "bin/python", "-c", program], cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    names = result.stdout.split()
    assert "tactile_sim.simulation" in names
    assert not [name for name in names if name.startswith(("rclpy", "tactile_sim.ros"))]


def test_source_distribution_has_all_that_ros_and_pip_build(source_distribution):
    with tarfile.open(source_distribution) as archive:
        packed = {Path(*Path(name).parts[1:]) for name in archive.getnames()}
    kinds = (
        "cmake",
        "config",
        "core",
        "interfaces",
        "launch",
        "msg",
        "requirements",
        "scenes",
        "srv",
        "tactile_sim",
        "test",
    )
    expected = {
        path for name in ("package.xml", "CMakeLists.txt", "CHANGELOG.rst") for path in ROOT.glob(name)
    }
    for kind in kinds:
        expected |= {
            path for path in (ROOT / kind).rglob("*") if path.is_file() and not COMPILED & {path.suffix}
        }
    assert not {path.relative_to(ROOT) for path in expected} - packed
    assert not [path for path in packed if path.suffix in COMPILED or ".git" in path.parts]


def test_installed_package_declares_the_core_requirements(installed):
    [metadata] = installed.glob("lib/python3*/site-packages/tactile_sim-*.dist-info/METADATA")
    needed = re.findall(r"^Requires-Dist: ([^;\n]+)$", metadata.read_text(), re.MULTILINE)
    assert {canonicalize_name(Requirement(line).name) for line in needed} == {
        canonicalize_name(Requirement(line).name) for line in lines(REQUIREMENTS / "core.txt")
    }


@pytest.mark.parametrize("kind", ["config", "launch", "layouts", "msg", "rviz", "scenes", "srv"])
def test_every_shared_file_is_installed(installed, kind):
    def files(folder):
        return {
            path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"
        }

    assert files(installed / "share/tactile_sim" / kind) == files(ROOT / kind)


def test_colcon_command_names_packages_missing_from_pip(tmp_path):
    command = tmp_path / "sim"
    values = {"@_module@": "tactile_sim.ros.node", "@_requirements@": "numpy mujoco", "@_command@": "sim"}
    text = (ROOT / "tools/command.in").read_text()
    for name, value in values.items():
        text = text.replace(name, value)
    command.write_text(text)
    result = run([sys.executable, "-I", "-S", command], cwd=tmp_path)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("tactile_sim: missing: numpy, mujoco; to install: ")
    assert line.endswith("numpy mujoco")


def test_stub_describes_the_native_core(tmp_path):
    stub = tmp_path / "_core.pyi"
    run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tactile_sim._core", "-o", stub], cwd=ROOT)
    assert stub.read_text() == (ROOT / "tactile_sim/_core.pyi").read_text()


def test_the_type_marker_is_installed(installed):
    assert list(installed.glob("lib/python3*/site-packages/tactile_sim/py.typed"))


def test_versions_agree():
    text = (ROOT / "CHANGELOG.rst").read_text(encoding="utf-8")
    released = re.findall(r"^(\d+\.\d+\.\d+) \(.*\)$", text, re.MULTILINE)[0]
    for manifest in ("package.xml", "interfaces/tf2_msgs/package.xml"):
        assert ElementTree.parse(ROOT / manifest).findtext("version") == released
    present = Version(tactile_sim.__version__)
    if "Forthcoming" in text:  # bloom expects the last release in package.xml until the next one
        assert present.is_devrelease and present > Version(released)
    else:
        assert present == Version(released)
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited and cited[1] == released

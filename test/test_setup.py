"""The set-up script checks the machine first, and each error contains a remedy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REAL = getattr(sys, "_base_executable", sys.executable)  # the Python outside our virtual environment
BASIC = "awk bash cat cp cut dirname find grep head id ls mkdir rm sed sha256sum sort".split()
BASIC += "tail tee uname xargs".split()
BUILD = ["cc", "c++", "cmake", "make"]
PARTS = (
    "tools",
    "requirements",
    "cmake",
    "core",
    "interfaces",
    "msg",
    "srv",
    "config",
    "launch",
    "layouts",
    "rviz",
    "scenes",
    "tactile_sim",
)
SET_UP = (ROOT / ".venv/.stamps/interfaces").exists()


@pytest.fixture
def machine(tmp_path):
    """Return a function that runs a copy of the set-up script on an emulated machine.

    Of the real programs, it has only those in `BASIC` and those passed to the function.
    """
    tree, programs = tmp_path / "tree", tmp_path / "bin"
    for part in PARTS:
        shutil.copytree(ROOT / part, tree / part)
    for part in ("CMakeLists.txt", "package.xml"):
        shutil.copy(ROOT / part, tree / part)
    programs.mkdir()

    def run(*names, python=f'exec {REAL} "$@"', **environment):
        for name in [*BASIC, *names]:
            if path := shutil.which(name):
                (programs / name).symlink_to(path)
        for name, script in {"python3": python, "apt-get": "exit 1"}.items():
            (programs / name).write_text(f"#!/bin/sh\n{script}\n")
            (programs / name).chmod(0o755)
        return subprocess.run(
            [programs / "bash", tree / "tools/setup.bash"],
            env={"PATH": str(programs), "HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull} | environment,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )

    run.venv = tree / ".venv"
    return run


def rejected(result):
    """Return the errors of a set-up that has failed as expected."""
    assert result.returncode == 1, result.stdout + result.stderr
    assert all(line.startswith("setup:") for line in result.stderr.splitlines()), result.stderr
    return result.stderr


def test_missing_tools_are_named_with_the_install_command(machine):
    said = rejected(machine())
    assert "missing: a C compiler, a C++ compiler, make, cmake" in said
    assert "apt-get install -y gcc g++ make cmake" in said
    assert not machine.venv.exists()


def test_missing_headers_are_named_with_their_package(machine):
    bare = f'case "$2" in *Python.h*) exit 1;; esac; exec {REAL} "$@"'
    said = rejected(machine(*BUILD, python=bare))
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"missing: the header files of Python {version}" in said
    assert f"apt-get install -y python{version}-dev" in said


def test_old_cmake_is_reported_as_missing(machine, tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    (old / "cmake").write_text("#!/bin/sh\necho cmake version 3.16.3\n")
    (old / "cmake").chmod(0o755)
    said = rejected(machine("cc", "c++", "make", PATH=f"{old}:{tmp_path / 'bin'}"))
    assert "missing: cmake 3.21 or later" in said


@pytest.mark.parametrize("version", ["3.9.2", "3.14.0"])
def test_unsupported_python_is_named_with_supported_versions(machine, version):
    minor = version.rsplit(".", 1)[0]
    old = f'case "$2" in *split*) echo "Python {version}"; exit 0;; esac; echo {minor}; exit 1'
    said = rejected(machine(*BUILD, python=old))
    assert f"Python {version}" in said and "CPython 3.11, 3.12 or 3.13" in said


def test_missing_network_is_reported(machine):
    result = machine(*BUILD, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0", PIP_NO_CACHE_DIR="1")
    assert result.returncode == 1
    assert "PyPI" in result.stderr
    assert "HTTPS_PROXY" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (machine.venv / ".stamps/wheels").exists()


def test_package_with_another_hash_is_rejected(machine, tmp_path):
    lock = (ROOT / "requirements/lock.txt").read_text().splitlines()
    name, version = next(line for line in lock if "==" in line).split(" ")[0].split("==")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / f"{name.replace('-', '_')}-{version}-py3-none-any.whl").write_bytes(b"another file")
    said = rejected(machine(*BUILD, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels)))
    assert "requirements/lock.txt" in said
    assert not (machine.venv / ".stamps/wheels").exists()


def test_ctrl_c_prints_one_line(machine):
    """Ctrl-C reaches all programs in the terminal; here, python3 sends it at the call that creates .venv."""
    pressed = f'case "$*" in *"-m venv"*) kill -INT 0;; esac; exec {REAL} "$@"'
    result = machine(*BUILD, python=pressed)
    assert result.returncode == 130
    [line] = result.stderr.strip().splitlines()
    assert line.startswith("setup: ") and "make setup" in line


def test_unsupported_machine_is_rejected_with_an_alternative(machine, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "uname").write_text('#!/bin/sh\n[ "$1" = -m ] && echo aarch64 || echo Linux\n')
    (other / "uname").chmod(0o755)
    said = rejected(machine(*BUILD, PATH=f"{other}:{tmp_path / 'bin'}"))
    assert "aarch64" in said
    assert "pip install ." in said


@pytest.mark.skipif(not SET_UP, reason="the environment is not that of make setup")
def test_second_call_does_nothing():
    made = [ROOT / ".venv/setup.log", *(ROOT / ".venv/.stamps").iterdir()]
    before = [file.stat().st_mtime_ns for file in made]
    result = subprocess.run([ROOT / "tools/setup.bash"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert [file.stat().st_mtime_ns for file in made] == before


def in_a_shell(program, tmp_path):
    """Run a bash program in another folder with an empty environment; return its output."""
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "ROOT": str(ROOT)}
    result = subprocess.run(
        ["bash", "-euc", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.skipif(not SET_UP, reason="the environment is not that of make setup")
def test_env_bash_adds_source_tree_and_messages_once(tmp_path):
    once, twice, source = in_a_shell(
        'source "$ROOT/tools/env.bash"; echo "$PATH $PYTHONPATH $AMENT_PREFIX_PATH $LD_LIBRARY_PATH";'
        'source "$ROOT/tools/env.bash"; echo "$PATH $PYTHONPATH $AMENT_PREFIX_PATH $LD_LIBRARY_PATH";'
        'python -c "import tactile_sim, tactile_sim.msg; print(tactile_sim.__file__)"',
        tmp_path,
    )
    assert once == twice
    assert Path(source) == ROOT / "tactile_sim/__init__.py"

"""Test the cache of compiled kernels: outdated or damaged files, and a cache that is not writable."""

from __future__ import annotations

import ctypes
import os
import pty
import resource
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from tactile_sim import kernel_cache
from tactile_sim.compilation import kernel

ROOT = Path(__file__).parents[1]
INNER = """\
from typing import NamedTuple
from tactile_sim.compilation import kernel

OFFSET = {offset}

class Pair(NamedTuple):
    {fields}

@kernel
def add(x):
    # a comment
    return x + {addend}

@kernel
def other(x):
    return x
"""
OUTER = """\
from tactile_sim.compilation import kernel
from inner import OFFSET, Pair, add

@kernel("f8(f8)")
def eager(x):
    return add(x) + OFFSET

@kernel
def first(pair):
    return add(0 * pair.first) + pair.first
"""
PROGRAM = "from outer import *; print(eager(1.0), first(Pair(10, 20)))"
FIRST = {"offset": 100, "fields": "first: int\n    second: int", "addend": 0}


class Package:
    """Two modules with kernels; each run starts a new process."""

    def __init__(self, folder: Path):
        self.folder, self.cache = folder, folder / "cache"
        (folder / "outer.py").write_text(OUTER)
        self.write()

    def write(self, **changes) -> None:
        (self.folder / "inner.py").write_text(INNER.format(**FIRST | changes))
        os.utime(self.folder / "inner.py", (1, 1))

    def run(
        self, program: str = PROGRAM, cache: Path | None = None, root: Path = ROOT, **options
    ) -> tuple[str, str]:
        """Run a program with the package in ``root``; return its standard output and standard error."""
        own = {"PYTHONPATH": f"{self.folder}:{root}", "NUMBA_CACHE_DIR": str(cache or self.cache)}
        own["PYTHONDONTWRITEBYTECODE"] = "1"  # Python's bytecode cache compares only time and size
        options = {"stderr": subprocess.PIPE} | options
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | own,
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
            **options,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), done.stderr

    @property
    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.cache.rglob("*") if path.is_file()}


@pytest.fixture
def package(tmp_path):
    return Package(tmp_path)


def test_kernels_are_reused_until_their_sources_change(package):
    _, said = package.run("import inner; inner.add(1)")
    assert "compiling" in said
    answer, said = package.run()
    assert answer == "101.0 10" and "compiling" in said  # although the cache already contains another kernel
    kept = package.files
    assert package.run() == (answer, "")
    # Change a kernel called by others, a constant in another module, and the order of fields.
    package.write(addend=1, offset=200, fields="second: int\n    first: int")
    assert package.run()[0] == "202.0 21"
    assert kept.keys() <= package.files.keys()


def test_damaged_files_are_replaced(package):
    answer, _ = package.run()
    sound = package.files
    paths = sorted(package.cache.rglob("*.nbc"))
    for path, end, addition in zip(paths, (0, 50, -9, -1), (b"", b"", b"", b"?"), strict=True):
        path.write_bytes(path.read_bytes()[:end] + addition)
    assert package.run()[0] == answer
    assert package.run() == (answer, "")
    assert package.files.keys() == sound.keys()


def test_full_disk_does_not_stop_the_program(package):
    def fill_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    (package.folder / "file").touch()
    for cache, before in (("full", fill_disk), ("file", None)):
        got, said = package.run(cache=package.folder / cache, preexec_fn=before)
        assert got == "101.0 10"
        assert sum("NUMBA_CACHE_DIR" in line for line in said.splitlines()) == 1
    assert not [path for path in (package.folder / "full").rglob("*") if path.is_file()]


def forbid_writing() -> None:
    """Make root respect the permissions of files, as other users do."""
    capability_drop, override = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(capability_drop, override, 0, 0, 0)


def test_read_only_package_without_writable_home_does_not_stop_the_program(package, monkeypatch):
    root, home = package.folder / "site", package.folder / "home"
    shutil.copytree(ROOT / "tactile_sim", root / "tactile_sim", ignore=shutil.ignore_patterns("__pycache__"))
    home.mkdir()
    for folder in (home, root, *(path for path in root.rglob("*") if path.is_dir())):
        folder.chmod(0o555)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    program = f"import os; del os.environ['NUMBA_CACHE_DIR']; {PROGRAM}; print(os.access('home', os.W_OK))"
    got, said = package.run(program, root=root, preexec_fn=forbid_writing, cwd=package.folder)
    if "True" in got:
        pytest.skip("root keeps the right to write everywhere")
    assert got.split() == ["101.0", "10", "False"]
    assert sum(str(home) in line and "NUMBA_CACHE_DIR" in line for line in said.splitlines()) == 1
    assert not package.files and not list(home.iterdir())


def test_progress_is_shown_on_a_terminal(package):
    ours, theirs = pty.openpty()
    package.run(stderr=theirs)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert shown.count("\r\x1b[K") > 2
    assert shown.endswith("\r\x1b[K")  # the line is empty again


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"NUMBA_CACHE_DIR": "/chosen"}, ["/chosen"]),
        ({"XDG_CACHE_HOME": "/caches"}, [str(kernel_cache.PACKAGE), "/caches"]),
        ({"HOME": "/home/user"}, [str(kernel_cache.PACKAGE), "/home/user/.cache"]),
        ({}, [str(kernel_cache.PACKAGE)]),
    ],
)
def test_read_only_package_uses_the_folder_of_the_user(variables, expected, monkeypatch):
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if not variables:  # and the user is not in /etc/passwd
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert [str(folder.parent) for folder in kernel_cache.folders()] == expected


def test_each_kernel_has_a_fingerprint():
    sources = (path for path in kernel_cache.PACKAGE.rglob("*.py") if "import kernel\n" in path.read_text())
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sources]
    kernels = set()
    for name in names:
        if "motrix" not in name or find_spec("motrixsim"):
            values = vars(import_module(name)).values()
            kernels |= {value for value in values if isinstance(value, Dispatcher)}
    assert len(kernels) > 30
    for each in kernels:
        assert isinstance(each._cache, kernel_cache.KernelCache)
        kernel_cache.fingerprint(each)


def test_fingerprints_are_the_same_in_each_process():
    program = """
import hashlib
from numba.core.dispatcher import Dispatcher
from tactile_sim import kernel_cache
from tactile_sim.compilation import kernel
from tactile_sim.signal_chain import draws, loops
found = [value for module in (draws, loops) for _, value in sorted(vars(module).items())
         if isinstance(value, Dispatcher)]
print(hashlib.sha256(b"".join(map(kernel_cache.fingerprint, found))).hexdigest())
"""
    prints = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(prints) == 1


def test_importing_the_package_does_not_import_numba():
    program = "import sys, tactile_sim; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=60).returncode == 0


def test_the_first_tare_loads_and_compiles_no_kernel():
    program = """
import sys
from tactile_sim import kernel_cache
from tactile_sim.simulation import Simulation
simulation, loaded = Simulation("touch_cube"), []
kernel_cache.KernelCache.load_overload = lambda cache, *_: loaded.append(cache)
simulation.take_tare()
simulation.observe().readings
sys.exit(len(loaded))
"""
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=120).returncode == 0


@pytest.mark.parametrize("counted", [True, False])
def test_only_counted_kernels_count_references(counted):
    def total(arrays):
        result = 0.0
        for k in range(2):
            part = arrays[k][1:]
            result += part[0] + len(part)
        return result

    compiled = kernel(counted=counted)(total)
    assert compiled((np.ones(3), np.ones(3))) == 6.0
    (code,) = compiled.inspect_llvm().values()
    assert ("NRT_incref" in code or "NRT_decref" in code) == counted

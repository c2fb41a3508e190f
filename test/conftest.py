"""What all tests share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import pytest

NO_MOTRIX = pytest.mark.skipif(
    find_spec("motrixsim") is None, reason="motrixsim is not installed: make setup brings it"
)

# A shell's background job has SIGINT ignored and hands that down; the programs under test must hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def without_progress() -> Callable[[str], str]:
    """Removes from a standard error what the first start reports of its compilation."""
    return lambda text: "".join(line for line in text.splitlines(True) if "compiling kernels" not in line)


@pytest.fixture(params=["mujoco", pytest.param("motrix", marks=NO_MOTRIX)])
def engine_name(request) -> str:
    """Each engine in turn."""
    return request.param


@pytest.fixture(scope="session")
def mimo() -> Callable[[str], ModuleType]:
    """Imports a module of MIMo, from the checkout that TACTILE_SIM_MIMO names and with what it needs."""
    checkout = os.environ.get("TACTILE_SIM_MIMO")
    if not checkout:
        pytest.skip("TACTILE_SIM_MIMO names no checkout of MIMo to compare with")
    sys.path.append(checkout)
    try:
        import_module("mimoEnv")  # first: its packages import each other in a circle
    except ImportError as error:
        pytest.skip(f"MIMo cannot be imported from {checkout}: {error}")
    return import_module

"""Fixtures for all tests."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.falling_bag import fall, make_bag

__all__ = ["fall", "make_bag"]  # imported as fixtures

NO_MOTRIX = pytest.mark.skipif(
    find_spec("motrixsim") is None, reason="motrixsim is not installed: make setup brings it"
)

# Background jobs of a shell ignore SIGINT, and programs started with nohup ignore SIGHUP. Child processes
# inherit this, but the tested programs must receive both signals.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


FIRST = ("test/view/", "test/ros/", "test/test_packaging.py", "test/trifinger/", "test/fit/")
"""Where tests take long, the longest first. They would leave cores idle if they ran last."""
BROWSER = ("test_browser", "test_live_view", "test_replay")
"""Beginnings of the names of test files that operate a browser."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests in `FIRST` first."""
    items.sort(key=lambda item: next((k for k, path in enumerate(FIRST) if item.nodeid.startswith(path)), 99))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let one worker run all files in `BROWSER`, because a page that draws in software takes a whole core."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "browser" if Path(file).name.startswith(BROWSER) else file

    return Scheduling(config, log)


@pytest.fixture(params=["mujoco", pytest.param("motrix", marks=NO_MOTRIX)])
def engine_name(request) -> str:
    """Return the name of an engine; a test runs once for each."""
    return request.param


@pytest.fixture(scope="session")
def mimo() -> Callable[[str], ModuleType]:
    """Return a function that imports a module of MIMo from the checkout TACTILE_SIM_MIMO."""
    checkout = os.environ.get("TACTILE_SIM_MIMO")
    if not checkout:
        pytest.skip("TACTILE_SIM_MIMO names no checkout of MIMo to compare with")
    sys.path.append(checkout)
    try:
        import_module("mimoEnv")  # must come first, because MIMo's packages import each other
    except ImportError as error:
        pytest.skip(f"MIMo cannot be imported from {checkout}: {error}")
    return import_module


@pytest.fixture
def third_party(tmp_path) -> dict[str, str]:
    """Return environment variables that make the package in test/third_party appear to be installed."""
    source = Path(__file__).with_name("third_party") / "press_engine.py"
    (tmp_path / source.name).write_text(source.read_text())
    info = tmp_path / "press_engine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: press-engine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[tactile_sim.engines]\npress = press_engine:PressPlugin\n"
        "broken = no_such_module:Plugin\nempty = press_engine:Settings\nmujoco = no_such_module:Plugin\n"
    )
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}

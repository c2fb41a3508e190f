"""Compare MIMo's touch with ours on MIMo's benchmark scenes and scales, in the same process and states.

Run as ``python bench/peer_mimo.py PATH``, where PATH is a checkout of MIMo, in a Python environment with the
dependencies of both libraries. The environment variable TACTILE_SIM_MIMO can replace PATH; the benchmark is
skipped without either. Times are from a single run; compare the ratios, since absolute times depend on the
machine. docs/mimo.md explains the differences in the output.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table

from tactile_sim.engines.contacts import read_contacts
from tactile_sim.skin.patches import FACING

RESPONSES = ("spread_linear", "nearest")
SCENES = {
    "benchmark": ("benchmark_scene.xml", "DEFAULT_TOUCH_PARAMS"),
    "benchmark v2": ("benchmarkv2_scene.xml", "DEFAULT_TOUCH_PARAMS_V2"),
}
ACTIONS, STEPS_EACH = 500, 2
"""Number of random actions per run and of steps per action, as in MIMo's benchmark."""
MANY = 40
"""Minimum number of contacts in the crowded state."""
REPEATS = 100
COMPARE_EVERY = 10
CLOSE = 1e-4
"""Tolerance for equal outputs, relative to the force of the load; MIMo's outputs are float32."""
SAME = "the same"
States = Callable[[mujoco.MjModel, mujoco.MjData], Iterator[None]]


def main() -> int:
    """Measure, compare and print tables."""
    path = sys.argv[1] if len(sys.argv) == 2 else os.environ.get("TACTILE_SIM_MIMO")
    if path is None:
        print("skipped: requires MIMo: python bench/peer_mimo.py PATH, or TACTILE_SIM_MIMO=PATH")
        return 0
    checkout = Path(path)
    try:
        peer = import_peer(checkout)
    except ImportError as error:
        print(f"bench/peer_mimo.py: cannot import MIMo from {checkout}: {error}", file=sys.stderr)
        return 2
    console = Console(width=110)
    columns = ("sensors", "contacts", "MIMo µs", "ours µs", "speedup", "by medians", "first ms")
    speed = table("get_touch_obs, means", "scene", "response", *columns)
    shares = table("Single loads compared", "scene", "response", "loads", "the same", "differences")
    for name, (scene, scales) in SCENES.items():
        model = mujoco.MjModel.from_xml_path(str(checkout / "mimoEnv" / "assets" / scene))
        params = getattr(peer.envs, scales)
        for response in RESPONSES:
            for states in (moving, crowded):
                run = Run(peer, model, {**params, "response_function": response})
                run.measure(states)
                run.compare(states)
                run.report(speed, shares, name if states is moving else f"{name}, crowded", response)
    console.print(speed)
    console.print(shares)
    columns = ("sensors", "library", "first s", "again s", "memory MiB")
    built = table("Construction", "scene", "density", *columns)
    for density in (1, 2):
        for who in ("MIMo", "ours"):
            context = multiprocessing.get_context("spawn")
            with context.Pool(1) as pool:
                sensors, first, again, grown = pool.apply(construct, (str(checkout), who, density))
            built.add_row(
                "benchmark",
                f"×{density}",
                f"{sensors:,}",
                who,
                f"{first:.2f}",
                f"{again:.2f}",
                f"{grown:.0f}",
            )
    console.print(built)
    return 0


def import_peer(checkout: Path) -> SimpleNamespace:
    """Import both libraries.

    Args:
        checkout: Checkout of MIMo.

    Returns:
        MIMo's touch class as ``touch``, the module with MIMo's parameters as ``envs``, and our touch class as
        ``ours``.

    Raises:
        ImportError: MIMo is missing.
    """
    sys.path.insert(0, str(checkout))
    # MIMo's packages import each other and can only be imported in this order.
    importlib.import_module("mimoEnv")
    return SimpleNamespace(
        touch=importlib.import_module("mimoTouch.touch").TrimeshTouch,
        envs=importlib.import_module("mimoEnv.envs.mimo_env"),
        ours=importlib.import_module("tactile_sim.mimo.touch").TrimeshTouch,
    )


def moving(model: mujoco.MjModel, data: mujoco.MjData) -> Iterator[None]:
    """Apply random actions; yield after each action, when ``data`` has the resulting state."""
    random = np.random.default_rng(0)
    for _ in range(ACTIONS):
        data.ctrl[:] = random.uniform(*model.actuator_ctrlrange.T)
        mujoco.mj_step(model, data, STEPS_EACH)
        yield


def crowded(model: mujoco.MjModel, data: mujoco.MjData) -> Iterator[None]:
    """Set random poses until there are at least `MANY` loaded contacts; then yield `REPEATS` times."""
    random = np.random.default_rng(0)
    limited = np.flatnonzero(model.jnt_limited)
    while len(read_contacts(model, data)) < MANY:
        mujoco.mj_resetData(model, data)
        data.qpos[model.jnt_qposadr[limited]] = random.uniform(*model.jnt_range[limited].T)
        mujoco.mj_forward(model, data)
    for _ in range(REPEATS):
        yield


class Run:
    """Runs both libraries on the same states."""

    def __init__(self, peer: SimpleNamespace, model: mujoco.MjModel, params: dict[str, Any]) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        mujoco.mj_forward(model, self.data)
        env = SimpleNamespace(model=model, data=self.data)
        self.peer, self.ours = peer.touch(env, params), peer.ours(env, params)
        self.spent: dict[str, list[float]] = {}
        self.first = 0.0
        """Time of our first call with contacts [s], which loads modules."""
        self.contacts = 0.0
        self.verdicts: Counter[str] = Counter()

    def measure(self, states: States) -> None:
        """Time one library after the other on all states, so that they do not compete for CPU caches."""
        next(crowded(self.model, self.data))
        self.first = seconds(self.ours.get_touch_obs)
        for who, touch in (("ours", self.ours), ("MIMo", self.peer)):
            mujoco.mj_resetData(self.model, self.data)
            self.spent[who] = [seconds(touch.get_touch_obs) for _ in states(self.model, self.data)]

    def compare(self, states: States) -> None:
        """Compare, in every `COMPARE_EVERY`-th state, how both libraries distribute each single load."""
        mujoco.mj_resetData(self.model, self.data)
        counts = []
        for number, _ in enumerate(states(self.model, self.data)):
            obs = self.ours.get_touch_obs()
            loads = self.ours.contact_tuples
            counts.append(len({contact for contact, _, _ in loads}))
            if number % COMPARE_EVERY:
                continue
            total = np.sum([force for _, _, force in loads], axis=0)
            lost = np.abs(obs.sum(axis=0, dtype=float) - total).max()
            assert lost <= CLOSE * np.abs(obs).sum(dtype=float), f"loads and readings differ by {lost:g} N"
            self.verdicts.update(self.verdict(*load) for load in loads)
        self.contacts = statistics.mean(counts)

    def verdict(self, contact: int, body: int, force: np.ndarray) -> str:
        """Classify the difference between both libraries for the load of a contact on a body."""
        close = CLOSE * np.linalg.norm(force)
        with unchanged(self.data):
            raw = self.peer.touch_function(contact, body)
        if np.abs(raw - force).max() > close:
            return "different force"
        ours = spread(self.ours, contact, body, force)
        with unchanged(self.data):
            theirs = spread(self.peer, contact, body, force)
        if np.abs(ours - theirs).max() < close:
            return SAME
        if np.abs(theirs.sum(axis=0) - force).max() > close:
            return "lost by MIMo"
        skin = self.ours.skin
        slot = skin.patch_ids.tolist().index(body)
        normals = skin.normals[skin.patch_offsets[slot] : skin.patch_offsets[slot + 1]]
        away = normals @ self.ours.get_contact_normal(contact, body) >= FACING
        if (theirs[away] != 0).any():
            return "MIMo's partly on the far side"
        return "different weights"

    def report(self, speed: Table, shares: Table, scene: str, response: str) -> None:
        """Add a row with the results to each table."""
        spent = [np.array(self.spent[who]) * 1e6 for who in ("MIMo", "ours")]
        (theirs, ours), (their_median, our_median) = map(np.mean, spent), map(np.median, spent)
        numbers = (
            f"{self.ours.get_total_sensor_count():,}",
            f"{self.contacts:.1f}",
            f"{theirs:.0f}",
            f"{ours:.1f}",
            f"{theirs / ours:.0f}",
            f"{their_median / our_median:.0f}",
            f"{self.first * 1e3:.1f}",
        )
        speed.add_row(scene, response, *numbers)
        differs = ", ".join(f"{kind}: {count}" for kind, count in self.verdicts.items() if kind != SAME)
        shares.add_row(scene, response, str(self.verdicts.total()), str(self.verdicts[SAME]), differs)


def spread(touch: Any, contact: int, body: int, force: np.ndarray) -> np.ndarray:
    """Return the readings (n, 3) of a body's sensors for a single contact."""
    touch.sensor_outputs = touch.get_empty_sensor_dict(touch.touch_size)
    touch.response_function(contact, body, force)
    return touch.sensor_outputs[body]


@contextmanager
def unchanged(data: mujoco.MjData) -> Iterator[None]:
    """Restore the engine's contact frames on exit, because MIMo modifies them."""
    frames = data.contact.frame.copy()
    yield
    data.contact.frame[:] = frames


def seconds(function: Callable[[], Any]) -> float:
    """Call a function and return the duration [s]."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def construct(checkout: str, who: str, density: int) -> tuple[int, float, float, float]:
    """Construct a touch object twice and measure it.

    Call this in a new process, so that the first construction also loads modules.

    Args:
        checkout: Checkout of MIMo.
        who: The library, "MIMo" or "ours".
        density: Factor by which the configured taxel spacings are divided.

    Returns:
        Number of sensors, times of the first and second construction [s], and peak memory of the first [MiB].
    """
    peer = import_peer(Path(checkout))
    scene, scales = SCENES["benchmark"]
    model = mujoco.MjModel.from_xml_path(str(Path(checkout) / "mimoEnv" / "assets" / scene))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    env = SimpleNamespace(model=model, data=data)
    params = getattr(peer.envs, scales)
    finer = {**params, "scales": {body: scale / density for body, scale in params["scales"].items()}}
    touch = peer.touch if who == "MIMo" else peer.ours
    # Reset the peak of resident memory.
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    first = seconds(lambda: touch(env, finer))
    grown = memory("VmHWM") - before
    start = time.perf_counter()
    sensors = sum(map(len, touch(env, finer).sensor_positions.values()))
    return sensors, first, time.perf_counter() - start, grown


def memory(what: str) -> float:
    """Return a value of /proc/self/status [MiB]."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) / 1024


def table(title: str, *columns: str) -> Table:
    """Create a table with right-aligned numbers."""
    made = Table(title=title)
    for column in columns:
        made.add_column(column, justify="left" if column in ("scene", "response", "library") else "right")
    return made


if __name__ == "__main__":
    sys.exit(main())

"""Measure the cost of the signal chain on ``hand`` at 100 Hz: all stages together, and each one alone.

Run as ``python bench/chain.py``. Two simulations, one without stages and one with all of them, alternately
run the same motion several times. The shortest time of each message counts, so the ratios hardly depend on
the load of the machine. The time that the stages add to a message is compared with:

- a message without stages, which takes five steps of physics and one reading of the skin. With 1,062 taxels,
  the target is that the stages add at most 5 % to it.
- one reading of the skin.
- one reading of the skin per step, which a ``sampling`` other than ``last`` requires.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.table import Table

from tactile_sim import config
from tactile_sim.signal_chain import STAGES, SignalChain
from tactile_sim.simulation import Simulation, Snapshot

TAXELS = 1062
SECONDS, ROUNDS = 3.0, 10
"""Simulated time [s], and number of repetitions."""
REPEATS = 2000
RATE, STEPS = 100.0, 5
"""Rate of the messages [Hz], and steps per message."""
WANTED = 0.05
"""Maximum cost of the chain relative to physics and ideal skin, with `TAXELS` taxels."""
CHAIN: dict[str, dict[str, object]] = {
    "cross_talk": {"share": 0.2, "sigma": 0.004},
    "hysteresis": {"fraction": 0.05},
    "viscoelasticity": {"strength": 0.3, "time_constant": 0.05},
    "slow_adaptation": {"fraction": 0.8, "time_constant": 0.5},
    "fast_adaptation": {"time_constant": 30.0},
    "gain": {"value": [0.85, 1.15], "scatter": 0.05},
    "offset": {"scatter": 0.01},
    "drift": {"rate": 0.001},
    "noise": {"std": 0.005},
    "saturation": {"normal": 15.0, "shear": 5.0},
    "smoothing": {"time_constant": 0.01},
    "threshold": {"level": 0.02, "scatter": 0.1},
    "transfer": {"coefficients": [1200.0, -30.0], "limit": 15.0, "baseline": 32768.0},
    "quantisation": {"step": 1.0, "bits": 16},
    "dead_taxels": {"fraction": 0.01, "value": 32768.0},
    "dropout": {"hold": 0.005, "zero": 0.001},
    "delay": {"time": 0.01, "jitter": 0.005},
    "calibration": {"coefficients": [1200.0, -30.0], "limit": 15.0, "baseline": 32768.0},
    "tare": {"at": 0.1},
    "clip": {"low": -15.0, "high": 15.0},
    "contact": {"above": 0.05, "below": 0.03},
    "history": {"samples": 5},
}
assert list(CHAIN) == list(STAGES)


def main() -> None:
    """Run both measurements and print their tables."""
    table = Table(title="µs per message at 100 Hz")
    for column in ("taxels", "physics and skin", "its skin", "stages", f"of all, ≤ {WANTED:.0%}",
                   "of skin", f"of {STEPS} × skin", "of real time"):  # fmt: skip
        table.add_column(column, justify="right")
    for coarse in (True, False):
        ideal, real = Simulation(_settings({}, coarse)), Simulation(_settings({"*": CHAIN}, coarse))
        (without, skin), (full, _) = _run([ideal, real])
        extra = full - without
        verdict = f"{extra / without:.0%}"
        if coarse:
            reading, chain_simulation = real.observe().truth, real
            verdict = verdict if extra / without <= WANTED else f"[red]{verdict}: missed"
        table.add_row(
            f"{len(ideal.skin.positions):,}", f"{without:.0f}", f"{skin:.0f}", f"{extra:.0f}", verdict,
            f"{extra / skin:.0%}", f"{extra / (STEPS * skin):.0%}", f"{extra * 1e-6 * RATE:.2%}",
        )  # fmt: skip
    Console().print(table)
    _each(chain_simulation, reading)


def _settings(sensor: dict, coarse: bool) -> config.Settings:
    """Return the settings of ``hand`` with a signal chain.

    Args:
        sensor: Stages of the chain and their parameters, by body.
        coarse: Whether to increase the taxel spacings until about `TAXELS` taxels remain.
    """
    settings = config.load("hand")
    settings = replace(settings, skin=replace(settings.skin, sensor=sensor))
    for _ in range(4 if coarse else 0):
        coarser = (len(Simulation(settings).skin.positions) / TAXELS) ** 0.5
        scales = {body: spacing * coarser for body, spacing in settings.skin.scales.items()}
        settings = replace(settings, skin=replace(settings.skin, scales=scales))
    return settings


def _run(simulations: list[Simulation]) -> np.ndarray:
    """Measure the time per message, with the shortest time over all repetitions for each message.

    Returns:
        Means over all messages (simulations, 2) [µs]: the total time, and the time of the reading alone.
    """
    least = np.full((round(SECONDS * RATE), len(simulations), 2), np.inf)
    for _ in range(ROUNDS):
        for simulation in simulations:
            simulation.reset()
        for message, best in enumerate(least):
            for k in range(len(simulations)) if message % 2 else reversed(range(len(simulations))):
                best[k] = np.minimum(best[k], _advance(simulations[k]))
    return least.mean(axis=0) * 1e6


def _advance(simulation: Simulation) -> tuple[float, float]:
    """Advance by one message as the node does; return the total time and the time of the reading [s]."""
    reading = 0.0

    def publish(snapshot: Snapshot) -> None:
        nonlocal reading
        before = time.perf_counter()
        _ = snapshot.readings32
        reading = time.perf_counter() - before

    began = time.perf_counter()
    for _ in range(STEPS):
        simulation.apply_commands()
        due = bool(simulation.schedule.due(simulation.step_count, ["tactile"]))
        simulation.advance(1, publish if due else None)
    return time.perf_counter() - began, reading


def _each(simulation: Simulation, reading: np.ndarray) -> None:
    """Print the time that each stage alone takes to process a reading (taxels, channels)."""
    table = Table(title="each stage alone")
    table.add_column("stage")
    table.add_column("µs", justify="right")
    chains = {stage: {stage: block} for stage, block in CHAIN.items()} | {"none": {"tare": {"at": 0.0}}}
    for stage, stages in (chains | {"all": CHAIN}).items():
        chain = SignalChain(simulation.skin, {"*": stages}, simulation.engine.timestep)
        chain.read(0, reading)
        least = np.inf
        for message in range(1, REPEATS):
            began = time.perf_counter()
            chain.read(STEPS * message, reading)
            least = min(least, time.perf_counter() - began)
        table.add_row(stage, f"{least * 1e6:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()

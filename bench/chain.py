"""Cost of the signal chain on ``hand`` with 1,062 taxels at 100 Hz: all stages at once, and each one alone.

Run as ``python bench/chain.py``. Both simulations step alternately through the same motion several times. Of
each message the shortest time counts, so the ratio hardly depends on what else the machine does.
"""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.table import Table

from tactile_sim import config
from tactile_sim.signal_chain import STAGES, SignalChain
from tactile_sim.simulation import Simulation

TAXELS = 1062
SECONDS, ROUNDS = 3.0, 10
"""Simulated time [s], and how often it is repeated."""
REPEATS = 2000
STEPS = 5
"""Steps between two messages."""
WANTED = 0.05
"""Greatest cost of the chain over the ideal skin."""
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
    """Measure and print both tables."""
    ideal = Simulation(_settings({}))
    real = Simulation(_settings({"*": CHAIN}))
    spent = _run([ideal, real])
    messages = SECONDS / (STEPS * ideal.engine.timestep)
    extra = spent[1] / spent[0] - 1
    table = Table(title=f"hand, {len(ideal.skin.positions)} taxels, µs per message at 100 Hz")
    for column in ("ideal skin and physics", "with all stages", f"more, ≤ {WANTED:.0%}", "of real time"):
        table.add_column(column, justify="right")
    verdict = f"{extra:.0%}" if extra <= WANTED else f"[red]{extra:.0%}: missed"
    columns = [f"{t / messages * 1e6:.0f}" for t in spent]
    table.add_row(*columns, verdict, f"{(spent[1] - spent[0]) / SECONDS:.2%}")
    Console().print(table)
    _each(real)


def _settings(sensor: dict) -> config.Settings:
    """Return the settings of ``hand`` with about `TAXELS` taxels."""
    settings = config.load("hand")
    number = len(Simulation(settings).skin.positions)
    coarser = (number / TAXELS) ** 0.5
    for _ in range(4):
        scales = {body: spacing * coarser for body, spacing in settings.skin.scales.items()}
        mapping = {"scene": settings.scene, "skin": {"scales": scales, "sensor": sensor}}
        mapping["motion"] = {"keyframes": list(settings.motion.keyframes), "period": settings.motion.period}
        found = config.from_mapping(mapping, settings.base, "bench")
        number = len(Simulation(found).skin.positions)
        coarser *= (number / TAXELS) ** 0.5
    return found


def _run(simulations: list[Simulation]) -> list[float]:
    """Return the time of each run [s]."""
    least = np.full((len(simulations), round(SECONDS / (STEPS * simulations[0].engine.timestep))), np.inf)
    for _ in range(ROUNDS):
        for simulation in simulations:
            simulation.reset()
        for message in range(least.shape[1]):
            for k in range(len(simulations)) if message % 2 else reversed(range(len(simulations))):
                began = time.perf_counter()
                _advance(simulations[k])
                least[k, message] = min(least[k, message], time.perf_counter() - began)
    return least.sum(axis=1).tolist()


def _advance(simulation: Simulation) -> None:
    """Advance by one message as the node does."""
    for _ in range(STEPS):
        simulation.apply_commands()
        due = bool(simulation.schedule.due(simulation.step_count, ["tactile"]))
        simulation.advance(1, (lambda snapshot: snapshot.taxels32) if due else None)


def _each(simulation: Simulation) -> None:
    """Print the time of each stage alone, on one reading."""
    reading = simulation.observe().truth
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

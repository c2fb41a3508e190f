"""Compare the CPU time of a program's own loop with that of MuJoCo's steps alone.

Run as ``python bench/loop.py [CHECKOUT ...]``. Each further checkout of the repository is measured in its own
process, alternately with this one, since only ratios from one run can be compared. Values are minima of many rounds.
"""

from __future__ import annotations

import argparse
import copy
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table

SCENES = "touch_cube", "gripper", "hand", "infant"
WARM_UP, ROUNDS, STEPS = 300, 60, 20


def cpu_time(work: Callable[[], object], count: int) -> float:
    """Return the CPU time of one call [s]."""
    start = time.process_time()
    for _ in range(count):
        work()
    return (time.process_time() - start) / count


def serve() -> None:
    """Print the CPU times of one round in the scene that is named in each line of the standard input."""
    import tactile_sim

    simulations = {scene: tactile_sim.load(scene) for scene in SCENES}
    for simulation in simulations.values():
        simulation.step(WARM_UP)
        _ = simulation.observe().readings
    for line in sys.stdin:
        simulation = simulations[line.strip()]
        engine = simulation.engine
        model, data = engine.model, copy.copy(engine.data)

        def read(simulation: tactile_sim.Simulation = simulation) -> object:
            simulation.step(1)
            return simulation.observe().readings

        physics = cpu_time(lambda: mujoco.mj_step(model, data), STEPS)
        loop = cpu_time(read, STEPS)
        steps = cpu_time(lambda: simulation.step(10), STEPS // 10) / 10
        print(physics, loop, steps, flush=True)


def main() -> None:
    """Measure all checkouts in turn, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", nargs="*", type=Path, metavar="CHECKOUT")
    places = [Path(__file__).parents[1], *parser.parse_args().checkouts]
    servers = []
    for place in places:
        path = os.pathsep.join([str(place.resolve()), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, __file__, "--serve"]
        servers.append(
            subprocess.Popen(
                command, env={**os.environ, "PYTHONPATH": path}, text=True, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        )  # fmt: skip
    best = np.full((len(SCENES), len(servers), 3), np.inf)
    for _ in range(ROUNDS):
        for row, scene in zip(best, SCENES, strict=True):
            for own, server in zip(row, servers, strict=True):
                assert server.stdin and server.stdout
                print(scene, file=server.stdin, flush=True)
                own[:] = np.minimum(own, [float(word) for word in server.stdout.readline().split()])
    for server in servers:
        server.communicate()
    table = Table(title=f"CPU time relative to mj_step, minimum of {ROUNDS} rounds")
    for column in ("scene", "checkout", "mj_step [µs]", "step(1) and observe().readings", "step(10)"):
        table.add_column(column, justify="left" if column in ("scene", "checkout") else "right")
    for scene, row in zip(SCENES, best, strict=True):
        physics = row[:, 0].min()
        for place, own in zip(places, row, strict=True):
            ratios = (f"{value / physics:.2f}" for value in own[1:])
            table.add_row(scene, place.resolve().name, f"{physics * 1e6:.1f}", *ratios)
    Console().print(table)


if __name__ == "__main__":
    serve() if "--serve" in sys.argv else main()

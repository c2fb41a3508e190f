"""Measure how long each part of a step takes on ``infant``: physics, contacts, skin and messages.

Run as ``python bench/step.py``. Values are means over one run with the built-in motion. Compare the ratios,
since absolute times depend on the machine.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from tactile_sim import config
from tactile_sim.ros.topics import simulation_topics
from tactile_sim.simulation import Simulation, Snapshot

STEPS = 2000
WARM_UP = 200
MESSAGES = ("tactile/frame", "contacts", "/tf", "joint_states", "tactile/points", "markers")


def main() -> None:
    """Measure the mean time of each part of a step, and print the times in a table."""
    simulation = Simulation(config.load("infant"))
    makers = {topic.name: topic.make for topic in simulation_topics(simulation)}
    parts: dict[str, Callable[[Snapshot], object]] = {
        "contacts": lambda snapshot: snapshot.all_contacts,
        "skin: taxels": lambda snapshot: snapshot.readings32,
        "skin: wrenches": lambda snapshot: snapshot.wrenches,
        **{f"message: {name}": makers[name] for name in MESSAGES},
        **{
            f"messages: every {kind}": lambda snapshot, kind=kind: [
                make(snapshot) for name, make in makers.items() if name.endswith(f"/{kind}")
            ]
            for kind in ("array", "wrench")
        },
    }
    spent: dict[str, float] = defaultdict(float)
    contacts = 0

    def measure(snapshot: Snapshot) -> None:
        nonlocal contacts
        for name, part in parts.items():
            start = time.perf_counter()
            part(snapshot)
            spent[name] += time.perf_counter() - start
        contacts += len(snapshot.contacts)

    for step in range(WARM_UP + STEPS):
        if step == WARM_UP:
            spent.clear()
            contacts = 0
        began, others = time.perf_counter(), sum(spent.values()) - spent["physics"]
        simulation.apply_commands()
        simulation.advance(1, measure)
        others = sum(spent.values()) - spent["physics"] - others
        spent["physics"] += time.perf_counter() - began - others

    taxels = len(simulation.skin.positions)
    table = Table(title=f"infant: {taxels} taxels, {contacts / STEPS:.0f} contacts, {STEPS} steps")
    table.add_column("part")
    table.add_column("µs", justify="right")
    table.add_column("of physics", justify="right")
    for name in ["physics", *parts]:
        table.add_row(name, f"{spent[name] / STEPS * 1e6:.1f}", f"{spent[name] / spent['physics']:.3f}")
    Console().print(table)


if __name__ == "__main__":
    main()

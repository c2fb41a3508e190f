"""Error of `elastic_foundation` against the engine's forces and moments in random contacts.

Run as ``python bench/conservation.py [SCENES]``, by default 1,000. In each scene a geom with skin overlaps
another geom, which also has a skin where it can have one: all pairs of kinds in turn, random sizes, poses,
velocities and friction with torsion and rolling, under MuJoCo and MotrixSim, which supports only some kinds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations_with_replacement

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table

from tactile_sim import Simulation

KINDS = {
    "sphere": (0.03,),
    "capsule": (0.02, 0.03),
    "ellipsoid": (0.04, 0.02, 0.03),
    "cylinder": (0.03, 0.02),
    "box": (0.03, 0.04, 0.02),
    "mesh": (),
    "plane": (1.0, 1.0, 0.1),
    "hfield": (),
}
"""Kinds of geoms and their typical sizes [m]. The last two have no skin."""
FLAT = ("plane", "hfield")
ON_MOTRIX = ("sphere", "capsule", "cylinder", "box", "plane")
SPACING = 0.008
REACHED = 1e-6
"""Error of the moment, over the force times the distance of the contacts from the origin and a spacing."""


def pairs() -> list[tuple[str, str]]:
    """Return all pairs of kinds of which one can have a skin."""
    return [pair for pair in combinations_with_replacement(KINDS, 2) if pair[0] not in FLAT]


def errors(count: int, engine: str, seed: int = 0) -> Iterator[tuple[str, float, float]]:
    """Compute random scenes in which bodies touch.

    Args:
        count: Number of scenes.
        engine: Name of the engine.
        seed: Seed of the random numbers.

    Yields:
        For each skin that is touched, the kinds, and the relative errors of force and moment.
    """
    rng = np.random.default_rng(seed)
    kinds = [pair for pair in pairs() if engine == "mujoco" or set(pair) <= set(ON_MOTRIX)]
    made = 0
    while made < count:
        first, second = kinds[made % len(kinds)]
        simulation = _scene(rng, first, second, engine)
        if engine == "mujoco":
            simulation.engine.data.qvel[:] = rng.normal(size=6)
        found = list(_errors(simulation))
        made += bool(found)
        for force, moment in found:
            yield f"{first}, {second}", force, moment


def _scene(rng: np.random.Generator, first: str, second: str, engine: str) -> Simulation:
    """Return two bodies that may overlap."""
    place = rng.normal(size=3)
    place *= rng.uniform(0.02, 0.06) / np.linalg.norm(place)
    place[2] = abs(place[2]) if second in FLAT else place[2]
    turns = ["1 0 0 0" if second in FLAT else _text(rng.normal(size=4)), _text(rng.normal(size=4))]
    ring = " ".join(
        f"{0.03 * np.cos(a)} {0.03 * np.sin(a)} {z}" for a in np.arange(0, 6.2, 0.5) for z in (-0.02, 0.02)
    )
    spec = mujoco.MjSpec.from_string(f"""
        <mujoco><option cone="elliptic" gravity="0 0 0"/>
        <default><geom friction="1 .01 .01" condim="{6 if engine == "mujoco" else 3}"/></default>
        <asset><mesh name="mesh" vertex="{ring}"/>
          <hfield name="hfield" nrow="9" ncol="9" size=".2 .2 .03 .05" elevation="{_text(rng.random(81))}"/>
        </asset><worldbody>
          <body name="second" quat="{turns[0]}">{_geom(rng, second)}</body>
          <body name="first" pos="{_text(place)}" quat="{turns[1]}"><freejoint/>{_geom(rng, first)}</body>
        </worldbody></mujoco>""")
    scales = {"first": SPACING, **({} if second in FLAT else {"second": SPACING})}
    settings = {"skin": {"scales": scales, "response_function": "elastic_foundation"}, "engine": engine}
    return Simulation(spec, settings)


def _geom(rng: np.random.Generator, kind: str) -> str:
    if kind in ("mesh", "hfield"):
        return f'<geom type="{kind}" {kind}="{kind}" pos="0 0 {-0.05 if kind == "hfield" else 0}"/>'
    size = np.array(KINDS[kind]) * (1 if kind == "plane" else rng.uniform(0.7, 1.3, len(KINDS[kind])))
    return f'<geom type="{kind}" size="{_text(size)}"/>'


def _text(values: np.ndarray) -> str:
    return " ".join(map(str, values))


def _errors(simulation: Simulation) -> Iterator[tuple[float, float]]:
    snapshot, engine, skin = simulation.observe(), simulation.engine, simulation.skin
    loads = skin.loads(snapshot.all_contacts, engine.body_positions, engine.body_rotations)
    spread, shares = skin.shares(loads, "elastic_foundation")
    for b in range(len(skin.pads)):
        expected, mine, given = snapshot.wrenches[b], spread.body == b, loads.body == b
        force = np.linalg.norm(loads.force[given], axis=1).sum()
        if not force > 0.0:
            continue
        taxels = snapshot.taxels[skin.pads[b].start : skin.pads[b].stop].sum(axis=0)
        moment = (np.cross(spread.point, spread.force) + spread.torque)[mine].sum(axis=0)
        arm = np.linalg.norm(loads.point[given], axis=1).max() + SPACING
        yield (
            np.linalg.norm(taxels - expected[:3]) / force,
            np.linalg.norm(moment - expected[3:]) / (force * arm),
        )


def main() -> None:
    """Print the errors of each engine and how often the moment was reached."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for engine in ("mujoco", "motrix"):
        kinds: dict[str, list[tuple[float, float]]] = {}
        for name, force, moment in errors(count, engine):
            kinds.setdefault(name, []).append((force, moment))
        values = np.array([pair for rows in kinds.values() for pair in rows])
        worst = values[:, 0].max()
        table = Table(
            title=f"{engine}: {count} scenes, {len(values)} skins, error of the force <= {worst:.1e}"
        )
        for column in ("pair", "skins", "moment within 1e-6", "median error of the others"):
            table.add_column(column, justify="left" if column == "pair" else "right")
        for name, rows in [*kinds.items(), ("all", values)]:
            moments = np.array(rows)[:, 1]
            others = moments[moments > REACHED]
            rest = f"{np.median(others):.1e}" if len(others) else ""
            table.add_row(name, str(len(moments)), f"{100 * np.mean(moments <= REACHED):.0f} %", rest)
        Console().print(table)


if __name__ == "__main__":
    main()

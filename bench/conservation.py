"""Measure the error of the readings of `elastic_foundation` against the engine's wrench in random contacts.

Run as ``python bench/conservation.py [SCENES]``; the default is 1,000 scenes. In each scene, a geom with skin
overlaps another geom, which also has skin if its type supports it. The scenes cycle through all pairs of geom
types and have random sizes, poses, velocities and friction, including torsional and rolling friction. They
run under MuJoCo and under MotrixSim, which supports fewer geom types.

The moment of the readings is that of the forces on the taxels at their positions. Moments that they do not
reproduce are classified by the cause. A center of pressure is out of reach if it is outside the convex hull
of the taxels that the layer can press. Then no non-negative readings can have the moment. The gaps at these
taxels are measured with MuJoCo's ray casts, independently of the native code and in the same way for all
geoms.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations_with_replacement

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import linprog

from tactile_sim import Simulation
from tactile_sim.skin import Loads

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
"""Geom types and their typical sizes [m]. The last two types cannot have skin."""
FLAT = ("plane", "hfield")
ON_MOTRIX = ("sphere", "capsule", "cylinder", "box", "plane")
SPACING = 0.008
REACHED = 1e-6
"""Tolerance of the moment, relative to the force times the lever arm.

The lever arm is the spacing plus the largest distance of a contact from the body's origin.
"""
OUTSIDE = 1e-6
"""Distance from the convex hull beyond which a center of pressure is out of reach [taxel spacings]."""
CAUSES = "reached", "no reach", "one taxel", "missed"
"""Whether the readings of a skin reproduce the moment of its contacts and, if not, why.

``reached``: they reproduce it. ``no reach``: the center of pressure is out of reach. ``one taxel``: a single
taxel has almost the entire force, and therefore no torsional moment. ``missed``: any other reason.
"""
FACING, APART = 0.2, 0.7
"""Minimum cosine between a taxel's outward normal and the direction to the other surface, and between the
normals of contacts that press together."""
FADING = 0.005
"""Mean square of the distance from the center of pressure below which torsion fades [spacings2]."""
FAR, PAST = 0.5, 1e-9
"""Constants of the ray casts in `_gap` [m].

A ray starts `FAR` above the point. After it has crossed a surface, it continues `PAST` beyond the crossing.
"""


def pairs() -> list[tuple[str, str]]:
    """Return all pairs of geom types whose first member can have skin."""
    return [pair for pair in combinations_with_replacement(KINDS, 2) if pair[0] not in FLAT]


def errors(count: int, engine: str, seed: int = 0) -> Iterator[tuple[str, float, float, str]]:
    """Compute the errors in random scenes with touching bodies.

    Args:
        count: Number of scenes.
        engine: Name of the engine.
        seed: Seed of the random numbers.

    Yields:
        For each skin that is touched, the geom types, the relative errors of force and moment, and one of
        `CAUSES`.
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
        for error in found:
            yield f"{first}, {second}", *error


def _scene(rng: np.random.Generator, first: str, second: str, engine: str) -> Simulation:
    """Return a scene of two bodies that may overlap."""
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


def _errors(simulation: Simulation) -> Iterator[tuple[float, float, str]]:
    snapshot, engine, skin = simulation.observe(), simulation.engine, simulation.skin
    loads = skin.loads(snapshot.all_contacts, engine.body_positions, engine.body_rotations)
    for b in range(len(skin.pads)):
        expected, given = snapshot.wrenches[b], loads.body == b
        force = np.linalg.norm(loads.force[given], axis=1).sum()
        if not force > 0.0:
            continue
        own = slice(skin.pads[b].start, skin.pads[b].stop)
        readings = snapshot.readings[own]
        moment = np.cross(skin.positions[own], readings).sum(axis=0)
        arm = np.linalg.norm(loads.point[given], axis=1).max() + SPACING
        error, cause = np.linalg.norm(moment - expected[3:]) / (force * arm), "reached"
        if error > REACHED:
            cause = _cause(simulation, loads[given])
        yield np.linalg.norm(readings.sum(axis=0) - expected[:3]) / force, error, cause


def _cause(simulation: Simulation, loads: Loads) -> str:
    """Return why the readings do not reproduce the moment of the loads on one skin, as one of `CAUSES`."""
    skin, cause = simulation.skin, "missed"
    for pair in _pairs(loads):
        push = np.einsum("mi,mi->m", pair.force, pair.normal)
        origin, up = push @ pair.point / push.sum(), push @ pair.normal
        up = up / np.linalg.norm(up)
        across = np.cross(up, np.eye(3)[np.abs(up).argmin()])
        across /= np.linalg.norm(across)
        axes = np.array([across, np.cross(up, across), up])
        torque = pair.torque + np.cross(pair.point - origin, pair.force)
        f, moment = axes @ pair.force.sum(axis=0), axes @ torque.sum(axis=0)
        if not f[2] > 0.0:
            continue
        spacing = skin.patch_spacings[pair.patch[0]]
        points = (_in_reach(simulation, pair, up) - origin) @ axes.T
        # Use coordinates along the net force, in which the center of pressure determines the moment.
        along = points[:, :2] - np.outer(points[:, 2], [f[0] / f[2], f[1] / f[2]])
        center = np.array([-moment[1], moment[0]]) / f[2]
        if _distance(along / spacing, center / spacing) > OUTSIDE:
            return "no reach"
        spread, _ = skin.shares(pair, "elastic_foundation")
        force, place = spread.force @ axes[2], (spread.point - origin) @ axes[:2].T / spacing
        inertia = force @ ((place - force @ place / force.sum()) ** 2).sum(axis=1) / force.sum()
        cause = "one taxel" if inertia < FADING else cause
    return cause


def _pairs(loads: Loads) -> Iterator[Loads]:
    """Yield the loads that press together: those from one body on one patch, with similar normals."""
    pressing = np.einsum("mi,mi->m", loads.force, loads.normal) > 0.0
    rest = loads[pressing & (loads.other >= 0)]
    while len(rest):
        together = (rest.patch == rest.patch[0]) & (rest.other_body == rest.other_body[0])
        together &= rest.normal @ rest.normal[0] > APART
        yield rest[together]
        rest = rest[~together]


def _in_reach(simulation: Simulation, loads: Loads, up: np.ndarray) -> np.ndarray:
    """Return the positions (q, 3) of the taxels that can have a force [m], in the body's frame.

    These taxels face the other geom. Their gaps exceed the smallest gap by at most the thickness plus one
    taxel spacing.
    """
    skin, load = simulation.skin, loads.table[0]
    patch = load["patch"]
    taxels = slice(*skin.patch_offsets[patch : patch + 2])
    points, normals = skin.positions[taxels], skin.normals[taxels]
    gaps = np.full(len(points), np.inf)
    for k in np.flatnonzero((-normals @ up > FACING) | ~normals.any(axis=1)):
        gaps[k] = _gap(simulation, load, points[k], up)
    layers = [skin.patch_thickness[side] for side in (patch, load["other_patch"]) if side >= 0]
    limit = gaps.min() + max(layers) + skin.patch_spacings[patch]
    return points[(gaps <= limit) & np.isfinite(gaps)]


def _gap(simulation: Simulation, load: np.void, point: np.ndarray, up: np.ndarray) -> float:
    """Return the gap [m] from a point to the other geom along -up: negative for overlap, infinite for a miss.

    The geoms are solid, so a ray enters and leaves them alternately. The gap is measured to the first entry
    into the geom, except for parts of the geom that the ray leaves again above the point.
    """
    model, data, geom = simulation.engine.model, simulation.engine.data, int(load["other"])
    kind, frame = mujoco.mjtGeom(model.geom_type[geom]), load["other_rotation"]
    crossings, start, along = [], frame.T @ (point + FAR * up - load["other_position"]), -frame.T @ up
    place, turn = data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)
    distance = 0.0
    while True:
        here = start + distance * along
        if kind == mujoco.mjtGeom.mjGEOM_MESH:
            step = mujoco.mj_rayMesh(model, data, geom, turn @ here + place, turn @ along)
        elif kind == mujoco.mjtGeom.mjGEOM_HFIELD:
            step = mujoco.mj_rayHfield(model, data, geom, turn @ here + place, turn @ along)
        else:
            size = model.geom_size[geom]
            step = mujoco.mju_rayGeom(np.zeros(3), np.eye(3).ravel(), size, here, along, kind)
        if step < 0.0:
            break
        # MuJoCo's rays also hit the plane between a height field and its base, which is not a surface.
        level = kind == mujoco.mjtGeom.mjGEOM_HFIELD and abs((here + step * along)[2]) < PAST
        if not level:
            crossings.append(distance + step - FAR)
        distance += step + PAST
    crossings += [np.inf] * (len(crossings) % 2)
    intervals = zip(crossings[::2], crossings[1::2], strict=True)
    return next((enter for enter, leave in intervals if leave >= 0.0), np.inf)


def _distance(points: np.ndarray, center: np.ndarray) -> float:
    """Return the Manhattan distance of a center (2,) from the convex hull of points (q, 2)."""
    q = len(points)
    if not q:
        return np.inf
    sides = np.array([[1, -1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 0]])
    weights = np.column_stack([np.vstack([points.T, np.ones(q)]), sides])
    return float(linprog(np.repeat([0.0, 1.0], [q, 4]), A_eq=weights, b_eq=[*center, 1.0]).fun)


def main() -> None:
    """Print the errors for each engine and how often the moment was reproduced."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for engine in ("mujoco", "motrix"):
        kinds: dict[str, list[tuple[float, float, str]]] = {}
        for name, *error in errors(count, engine):
            kinds.setdefault(name, []).append(tuple(error))
        every = [row for rows in kinds.values() for row in rows]
        worst = max(force for force, _, _ in every)
        table = Table(
            title=f"{engine}: {count} scenes, {len(every)} skins, error of the force <= {worst:.1e}"
        )
        table.add_column("pair")
        for column in ("skins", *CAUSES, "median error of the others", "worst miss"):
            table.add_column(column, justify="right")
        for name, rows in [*kinds.items(), ("all", every)]:
            causes = [cause for _, _, cause in rows]
            others = [moment for _, moment, cause in rows if cause != "reached"]
            missed = [moment for _, moment, cause in rows if cause == "missed"]
            table.add_row(
                name,
                str(len(rows)),
                *(str(causes.count(cause)) for cause in CAUSES),
                f"{np.median(others):.1e}" if others else "",
                f"{max(missed):.1e}" if missed else "",
            )
        Console().print(table)


if __name__ == "__main__":
    main()

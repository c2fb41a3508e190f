"""Time to read 2,000 and 20,000 feelers, compared with MuJoCo's ray casting from Python.

Run as ``python bench/feelers.py``. Both implementations cast the same feelers in the same states, in one run
on one machine; compare the ratios. Near: on a ball among ten primitives, on the hand and on its ball, and on
ten meshed rings in a row. Far: the same without obstacles in range.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import mujoco
import numpy as np
import trimesh
from rich.console import Console
from rich.table import Table

from tactile_sim import config
from tactile_sim.feelers import Feelers, Placed
from tactile_sim.simulation import Simulation
from tactile_sim.skin import Skin

COUNTS = (2_000, 20_000)
LENGTH = 0.1
WANTED = {"near": 10, "far": 50}
"""Target speedup over a loop of `mj_ray`."""
ROUNDS, REPEATS = 7, 20
RINGS = 10
PRIMITIVES = (
    ("sphere", ".1"), ("sphere", ".04"), ("capsule", ".03 .1"), ("capsule", ".06 .05"),
    ("ellipsoid", ".1 .05 .07"), ("ellipsoid", ".04 .08 .12"), ("cylinder", ".05 .1"), ("cylinder", ".1 .02"),
    ("box", ".05 .08 .1"), ("box", ".12 .02 .06"),
)  # fmt: skip

Case = tuple[str, str, mujoco.MjModel, mujoco.MjData, list[Placed]]
"""Scene, near or far, model, data and feelers."""


def main() -> None:
    """Measure all cases and print a table."""
    table = Table(title="time to read all feelers")
    table.add_column("scene")
    table.add_column("")
    for column in ("feelers", "covered", "µs", "mj_ray µs", "ratio", "mj_multiRay µs", "ratio"):
        table.add_column(column, justify="right")
    table.add_column("target")
    for count in COUNTS:
        for scene, where, model, data, placed in _cases(count):
            feelers = Feelers(model, placed)
            free = feelers.read(data)
            ours = _time(lambda f=feelers, d=data: f.read(d), REPEATS)
            ray = _time(lambda f=feelers, d=data: _loop(f, d, _ray), 1)
            multi = _time(lambda f=feelers, d=data: _loop(f, d, _multi_ray), 1)
            wanted = WANTED[where]
            table.add_row(
                scene, where, str(len(free)), f"{np.mean(free < feelers.lengths):.0%}", f"{ours:.1f}",
                f"{ray:.0f}", f"{ray / ours:.0f}", f"{multi:.0f}", f"{multi / ours:.0f}",
                f"{wanted}: {'yes' if ray > wanted * ours else 'NO'}",
            )  # fmt: skip
    Console(width=110).print(table)


def _cases(count: int) -> Iterator[Case]:
    for where, distance in (("near", 0.22), ("far", 5.0)):
        yield "ten primitives", where, *_primitives(count, distance)
    for where, height in (("near", 0.0), ("far", 5.0)):
        yield "hand: its ball", where, *_hand(count, ("globe",), height)
    yield "hand: palm and fingers", "near", *_hand(count, (), 0.0)
    for where, distance in (("near", 0.16), ("far", 5.0)):
        yield "ten meshed rings", where, *_rings(count, distance)


def _primitives(count: int, distance: float) -> tuple[mujoco.MjModel, mujoco.MjData, list[Placed]]:
    """Return primitives at a distance [m] around a ball with feelers."""
    places = distance * _directions(len(PRIMITIVES))
    bodies = "".join(
        f'<body pos="{x} {y} {z}" euler="{40 * k} {70 * k} 0"><freejoint/>'
        f'<geom type="{kind}" size="{size}"/></body>'
        for k, ((kind, size), (x, y, z)) in enumerate(zip(PRIMITIVES, places, strict=True))
    )
    model, data = _load(f'<body><freejoint/><geom size=".1"/></body>{bodies}')
    normals = _directions(count)
    return model, data, [_placed(1, 0.1 * normals, normals)]


def _hand(
    count: int, names: tuple[str, ...], height: float
) -> tuple[mujoco.MjModel, mujoco.MjData, list[Placed]]:
    """Return the hand with feelers on some bodies, or on those with skin; free bodies are lifted [m]."""
    simulation = Simulation(config.load("hand"))
    model, data = simulation.engine.model, simulation.engine.data
    bodies = {model.body(name).id: 0.004 for name in names} or {
        body.body_id: body.spacing for body in simulation.skin.bodies
    }
    for joint in np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        data.qpos[model.jnt_qposadr[joint] + 2] += height
    mujoco.mj_kinematics(model, data)
    skin = Skin(model, bodies)
    while len(skin.positions) < count:
        fineness = 0.97 * (len(skin.positions) / count) ** 0.5
        bodies = {body: fineness * spacing for body, spacing in bodies.items()}
        skin = Skin(model, bodies)
    placed = []
    for body in skin.bodies:
        these = slice(body.start, body.stop)
        placed.append(_placed(body.body_id, skin.positions[these], skin.normals[these]))
    return model, data, placed


def _rings(count: int, distance: float) -> tuple[mujoco.MjModel, mujoco.MjData, list[Placed]]:
    """Return a row of rings of 2,048 triangles, each rotated by a quarter turn."""
    ring = trimesh.creation.torus(0.1, 0.02, major_sections=64, minor_sections=16)
    numbers = " ".join(map(str, ring.vertices.ravel())), " ".join(map(str, ring.faces.ravel()))
    bodies = "".join(
        f'<body pos="{distance * k} 0 0" euler="{90 * k} 0 0"><freejoint/>'
        '<geom type="mesh" mesh="ring"/></body>'
        for k in range(RINGS)
    )
    asset = f'<asset><mesh name="ring" vertex="{numbers[0]}" face="{numbers[1]}"/></asset>'
    model, data = _load(bodies, asset)
    points, faces = trimesh.sample.sample_surface(ring, count // RINGS, seed=0)
    # In the body frame the vertices are as in the file: MuJoCo's mesh pose and geom pose cancel out.
    return model, data, [_placed(body, points, ring.face_normals[faces]) for body in range(1, model.nbody)]


def _load(bodies: str, asset: str = "") -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{asset}<worldbody>{bodies}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return model, data


def _directions(count: int) -> np.ndarray:
    """Return unit vectors (count, 3), evenly distributed over the sphere."""
    z = 1 - 2 * (np.arange(count) + 0.5) / count
    turn = np.pi * (3 - 5**0.5) * np.arange(count)
    r = np.sqrt(1 - z * z)
    return np.column_stack([r * np.cos(turn), r * np.sin(turn), z])


def _placed(body: int, positions: np.ndarray, normals: np.ndarray) -> Placed:
    n = len(positions)
    return Placed(
        body, positions, normals, np.full(n, LENGTH), np.zeros(n, np.uint16), np.zeros((n, 2)),
        np.arange(n, dtype=np.uint32), (), n, 1, 0.01,
    )  # fmt: skip


def _loop(feelers: Feelers, data: mujoco.MjData, cast: Callable) -> np.ndarray:
    """Cast each feeler from its root with one MuJoCo call, excluding its own body."""
    starts, directions = feelers.world(data.xpos, data.xmat.reshape(-1, 3, 3))
    geom, out = np.zeros(1, np.int32), np.empty(1)
    free = np.empty(len(starts))
    for body in feelers.bodies:
        for k in range(body.start, body.stop):
            free[k] = cast(feelers.model, data, starts[k], directions[k], body.body_id, geom, out)
    return np.where(free < 0, feelers.lengths, np.minimum(free, feelers.lengths))


def _ray(model, data, start, direction, body, geom, _):
    return mujoco.mj_ray(model, data, start, direction, None, 1, body, geom)


def _multi_ray(model, data, start, direction, body, geom, out):
    mujoco.mj_multiRay(model, data, start, direction, None, 1, body, geom, out, None, 1, LENGTH)
    return out[0]


def _time(read: Callable[[], object], repeats: int) -> float:
    """Return the shortest mean time of several rounds [µs]."""
    read()
    best = np.inf
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(repeats):
            read()
        best = min(best, (time.perf_counter() - began) / repeats)
    return best * 1e6


if __name__ == "__main__":
    main()

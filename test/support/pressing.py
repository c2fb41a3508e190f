"""Bodies at rest on a plate with skin, and single loads that press a shape into skin."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
import trimesh
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from tactile_sim import Simulation
from tactile_sim.skin import Loads, Skin
from tactile_sim.skin.pads.plan import PadPlan

G = 9.81
HALF, TOP = 0.05, 0.01
"""Half-length of the plate and height of its top above its origin [m]."""
STIFFNESS, THICKNESS = 2e5, 2e-3
RING = trimesh.creation.annulus(0.012, 0.02, 0.02, sections=64)


def mesh_asset(name: str, mesh: trimesh.Trimesh) -> str:
    vertices, faces = (" ".join(map(str, part.ravel())) for part in (mesh.vertices, mesh.faces))
    return f'<mesh name="{name}" vertex="{vertices}" face="{faces}"/>'


def on_plate(
    body: str, spacing: float = 0.004, assets: str = "", steps: int = 800, engine: str = "mujoco", **skin
) -> Simulation:
    """Return a simulation in which a body has come to rest on a plate with skin."""
    spec = mujoco.MjSpec.from_string(f"""
        <mujoco><option cone="elliptic"/><asset>{assets}</asset><worldbody>
          <body name="plate" pos="0 0 -.01"><geom type="box" size="{HALF} {HALF} {TOP}" friction="1"/></body>
          {body}</worldbody></mujoco>""")
    keys = {"touch_function": "normal", "response_function": "elastic_foundation"}
    simulation = Simulation(spec, {"engine": engine, "skin": {"scales": {"plate": spacing}, **keys, **skin}})
    simulation.step(steps)
    return simulation


def block(pos: str = "0 0 .01", euler: str = "0 0 0", weight_at: str = "0 0 0") -> str:
    """Return the MJCF of a box of 40 x 40 x 20 mm whose center of mass may differ from its center."""
    return f"""<body pos="{pos}" euler="{euler}"><freejoint/>
        <geom type="box" size=".02 .02 .01" mass="1e-4"/>
        <geom size=".001" pos="{weight_at}" mass="1" contype="0" conaffinity="0"/></body>"""


def sense(skin: Skin, loads: Loads, touch: str = "normal") -> np.ndarray:
    """Return the first channel (taxels,) of the readings with `elastic_foundation`."""
    return skin.readings_from_loads(loads, touch, "elastic_foundation")[:, 0]


def overlap(simulation: Simulation, pressure) -> float:
    """Return how well the readings match a pressure p(x, y) on the plate; see `overlap_with`."""
    return overlap_of(simulation.skin, simulation.observe().readings[:, 0], pressure)


def at(skin: Skin, height: float) -> np.ndarray:
    """Return a mask (n,) of the taxels at a height [m] in the frame of their body."""
    return np.abs(skin.positions[:, 2] - height) < 1e-9


def overlap_of(skin: Skin, reading: np.ndarray, pressure, face: np.ndarray | None = None) -> float:
    """Return how well readings (n,) match a pressure p(x, y) on a face, by default the top of the plate.

    Args:
        skin: Any skin.
        reading: Its readings (n,).
        pressure: Function of x and y.
        face: Mask (n,) of the taxels of the face.
    """
    points = (np.arange(1000) + 0.5) / 1000 * 2 * HALF - HALF
    x, y = (values.ravel() for values in np.meshgrid(points, points))
    top = np.flatnonzero(at(skin, TOP) if face is None else face)
    _, nearest = cKDTree(skin.positions[top, :2]).query(np.stack([x, y], axis=1))
    truth = np.zeros(len(skin.positions))
    truth[top] = np.bincount(nearest, pressure(x, y), minlength=len(top))
    return overlap_with(truth, reading)


def overlap_with(truth: np.ndarray, reading: np.ndarray) -> float:
    """Return the overlap of readings (n,) and true forces (n,): 1 - 0.5 sum|reading / F - truth / F|.

    Each array is divided by its sum F, so readings proportional to the true forces have an overlap of 1.
    """
    return 1 - 0.5 * np.abs(reading / reading.sum() - truth / truth.sum()).sum()


def pressed(
    geom: str,
    force,
    body: str = "",
    spacing: float = 0.004,
    quat=(1, 0, 0, 0),
    at=(0, 0, TOP),
    assets: str = "",
    pads: Sequence[PadPlan] = (),
    **layer,
) -> tuple[Skin, Loads]:  # fmt: skip
    """Return a skin and a single load, caused by a geom whose origin touches the skin at a point.

    Args:
        geom: MJCF attributes of the geom; its origin is the point of contact.
        force: Force on the skin (3,) [N].
        body: Geoms of the body with skin; by default the plate, whose top is TOP above its origin.
        spacing: Spacing of the taxels [m].
        quat: Orientation of the geom.
        at: Point of contact (3,) in the frame of the body [m].
        assets: MJCF assets of the scene.
        pads: Pads on body 1 that replace an even skin.
        layer: Stiffness [Pa] and thickness [m] of the skin.
    """
    body = body or f'<geom type="box" size="{HALF} {HALF} {TOP}"/>'
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><asset>{assets}</asset><worldbody>
        <body>{body}</body><body><geom {geom}/></body></worldbody></mujoco>""")
    skin, loads = Skin(model, {} if pads else {1: spacing}, pads=pads, **layer), Loads.empty(1)
    other = model.ngeom - 1
    # MuJoCo moves a mesh to its center of mass; geom_pos and geom_quat are its pose in the original frame.
    turn, own = Rotation.from_quat(quat, scalar_first=True).as_matrix(), np.empty(9)
    mujoco.mju_quat2Mat(own, model.geom_quat[other])
    loads.point[:], loads.force[:], loads.force_world[:] = at, force, force
    loads.normal[:] = [0, 0, np.sign(force[2])]
    loads.rotation[:], loads.other[:], loads.other_body[:] = np.eye(3), other, model.geom_bodyid[other]
    loads.other_position[:] = np.asarray(at) + turn @ model.geom_pos[other]
    loads.other_rotation[:] = turn @ own.reshape(3, 3)
    return skin, loads

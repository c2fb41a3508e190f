"""Compare `elastic_foundation` with other models of area contact.

Run as ``python bench/peer_contact.py``. It prints three tables:

- Drake's hydroelastic contact (``pip install drake``; skipped without it): a rigid sphere and a rigid box at
  a fixed depth in a compliant half space. Our skin gets Drake's force and center of pressure and computes
  the pressures.
- MuJoCo's ``tactile`` sensor: the depth under a ball at rest.
- Sum of the taxels: a nut on a pad is loaded in steps, as in IsaacLab's issue 5604. The taxels must sum to
  the applied load.
"""

from __future__ import annotations

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from tactile_sim import Simulation
from tactile_sim.skin import Loads, Skin

try:
    from pydrake import all as drake
except ImportError:
    drake = None

STIFFNESS, THICKNESS, SPACING = 2e5, 2e-3, 0.001
"""Stiffness [Pa] and thickness [m] of the layer, and taxel spacing [m]."""
HALF = 0.03
"""Half-length of the plate with skin [m]; its top is at z = 0."""
PLATE = f'<geom type="box" size="{HALF} {HALF} .005" pos="0 0 -.005"/>'
CASES = {
    "sphere, R 20 mm, 1 mm deep": ('type="sphere" size=".02"', (0.0, 0.0, 0.019), (0, 0, 0)),
    "box 30 x 20 mm, 0.5 mm deep, level": ('type="box" size=".015 .01 .005"', (0, 0, 0.0045), (0, 0, 0)),
    "box, tilted by 1 degree": ('type="box" size=".015 .01 .005"', (0, 0, 0.0045), (0, 1, 20)),
    "box, tilted by 3 degrees, lifting off": ('type="box" size=".015 .01 .005"', (0, 0, 0.0045), (0, 3, 20)),
}
"""Geom, position [m], and rotation about x, y and z [degrees]."""
POINTS = 2e9
"""Density of the points sampled on Drake's contact surface [1/m2]."""


def main() -> None:
    """Print the three tables."""
    if drake:
        Console().print(with_drake())
    else:
        print("Drake is not installed: pip install drake")
    Console().print(with_tactile_sensor())
    Console().print(sums())


def with_drake() -> Table:
    """Return a table that compares force, area, center of pressure and pressures with Drake's."""
    table = Table(title="hydroelastic contact of Drake | elastic_foundation")
    for column in (
        "case",
        "force N",
        "area mm2",
        "center of pressure mm",
        "greatest pressure kPa",
        "overlap",
    ):
        table.add_column(column)
    for name, (geom, position, angles) in CASES.items():
        rotation = Rotation.from_euler("zyx", angles[::-1], degrees=True)
        area, points, forces, pressure = _hydroelastic(geom, position, rotation)
        force, center = forces.sum(), forces @ points / forces.sum()
        skin, normal = _ours(geom, position, rotation, force, center)
        pressed, ours = normal > 0, normal @ skin.positions / normal.sum()
        top = np.flatnonzero(np.abs(skin.positions[:, 2]) < 1e-9)
        _, nearest = cKDTree(skin.positions[top, :2]).query(points)
        theirs = np.bincount(top[nearest], forces, minlength=len(normal))
        overlap = 1 - 0.5 * np.abs(normal / normal.sum() - theirs / theirs.sum()).sum()
        table.add_row(
            name,
            f"{force:.2f} | {normal.sum():.2f}",
            f"{area * 1e6:.0f} | {skin.areas[pressed].sum() * 1e6:.0f}",
            f"{_millimeters(center)} | {_millimeters(ours[:2])}",
            f"{pressure / 1e3:.1f} | {(normal / skin.areas).max() / 1e3:.1f}",
            f"{overlap:.3f}",
        )
    return table


def _millimeters(point: np.ndarray) -> str:
    return " ".join(f"{1e3 * value:.2f}" for value in point)


def _hydroelastic(geom: str, position: tuple, rotation: Rotation) -> tuple:
    """Compute a contact with Drake.

    Returns:
        Contact area [m2], points in it (n, 2) [m], upward force at each point (n,) [N], and peak pressure
        [Pa].
    """
    builder = drake.DiagramBuilder()
    plant, scene = drake.AddMultibodyPlantSceneGraph(builder, 1e-3)
    ground, rigid = drake.ProximityProperties(), drake.ProximityProperties()
    drake.AddCompliantHydroelasticPropertiesForHalfSpace(THICKNESS, STIFFNESS, ground)
    drake.AddRigidHydroelasticProperties(0.001, rigid)
    for properties in (ground, rigid):
        drake.AddContactMaterial(0.0, 1e6, drake.CoulombFriction(0.0, 0.0), properties)
    size = [float(value) for value in geom.split('size="')[1].rstrip('"').split()]
    shape = drake.Sphere(size[0]) if len(size) == 1 else drake.Box(*(2 * value for value in size))
    body = plant.AddRigidBody("body", drake.SpatialInertia.SolidSphereWithMass(1.0, 0.02))
    here = drake.RigidTransform()
    plant.RegisterCollisionGeometry(plant.world_body(), here, drake.HalfSpace(), "ground", ground)
    plant.RegisterCollisionGeometry(body, here, shape, "body", rigid)
    plant.Finalize()
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    pose = drake.RigidTransform(drake.RotationMatrix(rotation.as_matrix()), np.array(position))
    plant.SetFreeBodyPose(plant.GetMyMutableContextFromRoot(context), body, pose)
    query = scene.get_query_output_port().Eval(scene.GetMyContextFromRoot(context))
    (surface,) = query.ComputeContactSurfaces(drake.HydroelasticContactRepresentation.kTriangle)
    mesh = surface.tri_mesh_W()
    vertices = np.array(mesh.vertices()).reshape(-1, 3)
    corners = vertices[[[triangle.vertex(k) for k in range(3)] for triangle in mesh.triangles()]]
    areas = 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    # Sample points on the triangles. The pressure field of the half space there is linear in the depth.
    rng = np.random.default_rng(0)
    counts = np.ceil(areas * POINTS).astype(int)
    points = np.einsum(
        "nk,nki->ni", rng.dirichlet(np.ones(3), counts.sum()), np.repeat(corners, counts, axis=0)
    )
    forces = STIFFNESS / THICKNESS * -points[:, 2] * np.repeat(areas / counts, counts)
    # The pressure acts along the normals, whose upward component is constant over each triangle.
    up = np.abs(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]) / (2 * areas)
    forces *= np.repeat(up, counts)
    return surface.total_area(), points[:, :2], forces, -STIFFNESS / THICKNESS * vertices[:, 2].min()


def _ours(
    geom: str, position: tuple, rotation: Rotation, force: float, center: np.ndarray
) -> tuple[Skin, np.ndarray]:
    """Return the skin of a plate, and its readings for a force [N] at a center of pressure (2,) [m]."""
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body>{PLATE}</body><body><geom {geom}/></body></worldbody></mujoco>"
    )
    skin = Skin(model, {1: SPACING}, stiffness=STIFFNESS, thickness=THICKNESS)
    loads = Loads.empty(1)
    loads.point[:], loads.force[:], loads.normal[:] = (*center, 0.0), (0.0, 0.0, -force), (0.0, 0.0, -1.0)
    loads.rotation[:], loads.other[:], loads.other_body[:] = np.eye(3), 1, 2
    loads.other_position[:], loads.other_rotation[:] = position, rotation.as_matrix()
    return skin, skin.readings_from_loads(loads, "normal", "elastic_foundation")[:, 0]


def with_tactile_sensor() -> Table:
    """Compare depths under a ball with those of MuJoCo's tactile sensor."""
    grid = np.linspace(-HALF, HALF, 61)
    x, y = (values.ravel() for values in np.meshgrid(grid, grid))
    top = np.stack([x, y, np.zeros(len(x))], axis=1)
    vertices = " ".join(map(str, np.concatenate([top, top - [0, 0, 0.01]]).ravel()))
    spec = mujoco.MjSpec.from_string(f"""<mujoco><option cone="elliptic"/>
        <asset><mesh name="taxels" vertex="{vertices}"/></asset><worldbody>
        <body name="plate"><geom name="plate" type="mesh" mesh="taxels"/></body>
        <body pos="0 0 .02"><joint type="slide" axis="0 0 1"/><geom size=".02" mass="1"/></body></worldbody>
        <sensor><tactile name="tactile" geom="plate" mesh="taxels"/></sensor></mujoco>""")
    skin = {
        "scales": {"plate": SPACING},
        "response_function": "elastic_foundation",
        "touch_function": "depth",
    }
    simulation = Simulation(spec, {"skin": {**skin, "stiffness": STIFFNESS, "thickness": THICKNESS}})
    simulation.step(2000)
    depth, engine = simulation.observe().readings[:, 0], simulation.engine
    sensed = engine.data.sensordata.reshape(3, -1)[0]
    expected = np.sqrt(9.81 * THICKNESS / STIFFNESS / np.pi / 0.02)
    area = (2 * HALF / 60) ** 2
    table = Table(title="ball of 1 kg, R 20 mm, at rest")
    for column in ("", "greatest depth mm", "vertices in contact", "stiffness x area x depth / thickness, N"):
        table.add_column(column)
    table.add_row("law of the elastic foundation", f"{1e3 * expected:.4f}", "", "9.81")
    rows = {"elastic_foundation": (depth, simulation.skin.areas), "tactile sensor of MuJoCo": (sensed, area)}
    for name, (values, areas) in rows.items():
        total = (values * areas).sum() * STIFFNESS / THICKNESS
        table.add_row(name, f"{1e3 * values.max():.4f}", str(np.count_nonzero(values > 0)), f"{total:.2f}")
    return table


def sums() -> Table:
    """Load a nut on a pad in steps and compare the sum of the taxels with the load."""
    outer = [(0.012 * np.cos(a), 0.012 * np.sin(a)) for a in np.radians(np.arange(0, 360, 60))]
    vertices = " ".join(f"{x} {y} {z}" for z in (-0.005, 0.005) for x, y in outer)
    spec = mujoco.MjSpec.from_string(f"""<mujoco><option cone="elliptic"/>
        <asset><mesh name="nut" vertex="{vertices}"/></asset><worldbody>
        <body name="pad">{PLATE}</body>
        <body name="nut" pos=".003 .002 .0051" euler="0 0 10"><freejoint/>
          <geom type="mesh" mesh="nut" mass=".05"/></body></worldbody></mujoco>""")
    skin = {"scales": {"pad": SPACING}, "response_function": "elastic_foundation", "touch_function": "normal"}
    simulation = Simulation(spec, {"skin": {**skin, "stiffness": STIFFNESS, "thickness": THICKNESS}})
    table = Table(title="a nut of 50 g, pushed down")
    for column in ("applied N", "weight and push N", "sum of taxels N", "taxels in contact"):
        table.add_column(column, justify="right")
    for applied in (0.0, 1.0, 2.0, 4.0, 8.0):
        simulation.engine.data.xfrc_applied[2, 2] = -applied
        simulation.step(1500)
        reading = simulation.observe().readings[:, 0]
        row = (
            f"{applied:.1f}",
            f"{0.05 * 9.81 + applied:.4f}",
            f"{reading.sum():.4f}",
            str((reading > 0).sum()),
        )
        table.add_row(*row)
    return table


if __name__ == "__main__":
    main()

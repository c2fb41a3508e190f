"""Build MuJoCo specs of the robots: links from the URDFs, contact parameters, table and border.

The URDFs and meshes are in the package robot-properties-fingers. Links, joints and tips keep their names.

**Friction** has Bullet's values. Bullet multiplies the friction coefficients of two bodies. MuJoCo uses those
of the geom with the higher priority, or the larger ones at equal priority. In trifinger_simulation links and
walls have a friction of 0.5, and objects, table and floor have 1, so the products are:

========  =================  =====  =====
..        object or table    wall   link
========  =================  =====  =====
object    1                  0.5    0.5
link      0.5                0.25   0.25
========  =================  =====  =====

Priorities produce the values 0.5 and 1: links and walls have priority over objects. The value 0.25 needs
additional measures. Two moving links get an explicit contact pair, and so do a moving link and an imported
mesh. Each pair takes about 0.03 µs per step, so two cases that involve many shapes are handled
differently. Fixed links have a friction of 0.25 with the highest priority. Contacts with objects would have
this friction too, but objects cannot reach fixed links. Table and border exist twice: their bodies do not
collide with links, and hidden copies collide only with links.

**Margins.** Bullet enlarges the hull of a link by a margin of 1 mm. Here, contacts of links with each other
and with the stage have this margin. Contacts of moving links with objects and fixed links are at the surface
of the mesh.

**Convex shapes.** MuJoCo uses the convex hull of a mesh for collisions, so some meshes are split or replaced:

- If a tip link has no collision shape, the lower link is split and its end is assigned to the tip link, which
  can then have a skin.
- The middle link of the Edu types is split below its joint, because the hull of its entire mesh would fill
  the recess beside the joint. This hull would touch the base at -0.28 rad, where the mesh is still 3.8 mm
  away, and the joint could not reach its limit of -π/2.
- The border's mesh is concave, and its hull would fill the arena. Its collision shapes are invisible prisms,
  one for each convex part of the profile at each side of the inner polygon.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

from tactile_sim.common.errors import SceneError
from tactile_sim.trifinger.finger_types_data import (
    LINKS,
    SUFFIXES,
    get_finger_urdf,
    get_number_of_fingers,
    tip_link_names,
)

PACKAGE = "robot_properties_fingers"
LEAST_INERTIA = 1e-10
"""Moment of inertia [kg m²] that replaces 0 for links with mass, because MuJoCo rejects 0."""
TIP_SENSOR = "_normal_force"
"""Name suffix of the sensor that sums the normal forces on a tip."""
TIP_REACH = 0.1
"""Radius of the site of a tip's force sensor [m]. The site encloses the entire tip."""
TIME_STEP = 0.001
"""Default time step [s], for which the gains are tuned."""
STOP = (0.002, 1.0)
"""Solref of joint limits. These are the stiffest values that MuJoCo allows at a time step of 1 ms."""
IMPRATIO = 100.0
"""Ratio of frictional to normal impedance. At this ratio, a cube held with 2 N slips by 4 µm per second."""
OVERLAPPING = ("finger_base_link", "finger_upper_holder_link", "center_link")
"""Fixed links that overlap the upper link. MuJoCo's parent-child filter does not prevent these collisions."""

TIP_LENGTH = 0.015
"""Height above a tip's center up to which the lower link's mesh is assigned to the tip [m]."""
CUTS = {"middle_link": -0.02}
"""Height at which a link is split, in the link's frame [m], keyed by the name of the link's mesh."""

LINK_FRICTION = 0.5
"""Sliding friction of a link against objects, table and floor."""
LINK_PRIORITY = 2
WALL_FRICTION = 0.5
"""Sliding friction of the border and of imported meshes against objects."""
WALL_PRIORITY = 1
LINK_PAIR_FRICTION = 0.25
"""Sliding friction of a link against another link or a wall."""
TORSIONAL, ROLLING = 0.005, 0.0001
"""Torsional and rolling friction [m]; contacts with condim 3 do not use them."""
LINK_BIT = 2
"""Bit of contype and conaffinity that only links and the border's copy use; MuJoCo's default bit is 1."""
LINK_SOLREF, LINK_SOLIMP = (0.002, 1.0), (0.95, 0.99, 0.001, 0.5, 2.0)
"""Solref and solimp of link contacts: as stiff as MuJoCo allows at a time step of 1 ms."""
LINK_MARGIN = 0.001
"""Distance at which a link touches the stage, and half the distance at which links touch each other [m]."""
WALL = {
    "friction": (WALL_FRICTION, TORSIONAL, ROLLING),
    "priority": WALL_PRIORITY,
    "solref": (0.004, 2.0),
}
"""Parameters of contacts between walls and objects, as arguments of ``add_geom``: stiff, without rebound."""
COLLISION_GROUP = 3
"""Geom group of colliding shapes that are not drawn."""

TABLE_FRICTION = 1.0
RESTING_SOLREF = (0.01, 1.0)
RESTING_SOLIMP = (0.7, 0.95, 0.001, 0.5, 2.0)
"""Solimp of contacts between objects, and between objects and the floor; the solref is `RESTING_SOLREF`.

The impedance is low at first touch. If the contact were stiff, MuJoCo's friction cone would lift a sliding
object, and the object could fly over the border.
"""
THICKNESS = 0.02
"""Thickness of the border [m], measured outwards from its inner side."""
FLOOR = -0.01
"""Height of the floor around the table [m]."""


class Stage(NamedTuple):
    """Table and border of a finger type. A horizontal section of the border's inner side is a polygon."""

    mesh: str
    """File of the border's visual mesh. For the single-finger types it includes the table."""
    table_color: tuple[float, ...]
    border_color: tuple[float, ...]
    facets: int
    """Number of sides of the polygon."""
    azimuth: float
    """Azimuth of the middle of a side [deg]."""
    parts: tuple[tuple[tuple[float, float], ...], ...]
    """Height and distance from the axis of each edge of the inner side [m], as convex polylines."""
    half_table: tuple[float, float, float] = (0.38, 0.38, 0.005)
    """Half sizes of the table along x, y and z [m]. Its top is at height 0."""


BOWL = 45, 2.0, ((
    (0.0, 0.1946), (0.022, 0.1946), (0.0297, 0.19555), (0.0333, 0.19675), (0.0356, 0.1978), (0.037, 0.19855),
    (0.1746, 0.2784),
),)  # fmt: skip
STAGES = {
    "trifingerpro": Stage(
        "object_containment_sim.stl", (0.21, 0.23, 0.2, 1.0), (0.56, 0.55, 0.58, 1.0), *BOWL
    ),
    "trifingerone": Stage(
        "object_containment_sim.stl", (0.18, 0.15, 0.19, 1.0), (0.73, 0.68, 0.72, 1.0), *BOWL
    ),
    "trifingeredu": Stage(
        "edu/frame_wall.stl", (0.95, 0.95, 0.95, 1.0), (0.95, 0.95, 0.95, 0.5),
        37, 7.3, (((0.0, 0.2411), (0.25, 0.2411)),),
    ),
    "finger": Stage(
        "Stage_simplified.stl", (0.73, 0.68, 0.72, 1.0), (0.73, 0.68, 0.72, 1.0),
        50, 3.6, tuple(itertools.pairwise((
            (0.0, 0.2128), (0.002, 0.2288), (0.0079, 0.2438), (0.0174, 0.257), (0.0299, 0.2674),
            (0.0445, 0.2744), (0.0627, 0.2782),
        ))),
        (0.3, 0.34, 0.006),
    ),
}  # fmt: skip
"""Stages by finger type; single-finger types use ``finger``."""


def load_spec(
    finger_type: str, *, base_position: Sequence[float] = (0.0, 0.0, 0.0), time_step: float = TIME_STEP
) -> mujoco.MjSpec:
    """Create an editable spec of a robot with floor, table and border.

    Args:
        finger_type: Finger type of the robot; see `finger_types_data`.
        base_position: (3,) position of the robot's base in the world [m].
        time_step: Time step [s].

    Raises:
        InvalidValueError: The finger type is unknown.
        SceneError: The robot's files are not installed.
    """
    robot = read_robot(urdf_file(finger_type))
    _place(robot, base_position)
    colors = _link_colors(robot)
    _remove_visuals_like_collisions(robot)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"))
    spec.modelname = finger_type
    tips = tip_link_names(finger_type)
    _split_links(spec, [spec.body(name) for name in tips])
    _name_geoms(spec, colors)
    for tip in tips:
        spec.body(tip).add_site(name=tip, size=(TIP_REACH, 0, 0), rgba=(0, 0, 0, 0))
        spec.add_sensor(
            name=tip + TIP_SENSOR,
            type=mujoco.mjtSensor.mjSENS_TOUCH,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname=tip,
        )
    for end in SUFFIXES[get_number_of_fingers(finger_type)]:
        for name in OVERLAPPING:
            if spec.body(name + end):
                spec.add_exclude(bodyname1=name + end, bodyname2=LINKS[0] + end)
    _pair_links(spec)
    # Fingers hold lifted objects and stop at joint limits.
    spec.option.timestep = time_step
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = IMPRATIO
    for joint in spec.joints:
        joint.solref_limit = STOP
    light = spec.visual.headlight  # the light of camera images
    light.ambient[:], light.diffuse[:], light.specular[:] = 0.45, 0.55, 0.0
    _add_stage(spec, finger_type)
    return spec


# -- the URDF ------------------------------------------------------------------------------------------------


def robot_folder() -> Path:
    """Return the folder of the installed package robot-properties-fingers.

    Raises:
        SceneError: The package is not installed.
    """
    # Importing the package would import a dynamics library that is not needed.
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise SceneError(
            "URDFs and meshes of the TriFinger are not installed; run: pip install --no-deps"
            " robot-properties-fingers"
        )
    return Path(found.submodule_search_locations[0])


def urdf_file(finger_type: str) -> Path:
    """Return the path of a finger type's URDF."""
    return robot_folder() / "urdf" / get_finger_urdf(finger_type)


def read_robot(urdf: Path) -> ElementTree.Element:
    """Read a URDF and adapt it to MuJoCo.

    Mesh paths become absolute, every link remains a separate body, and moments of inertia of 0 are replaced.
    A lower link's collision shapes that are at its tip (the pad of fingerone) are moved to the tip link, so
    that the tip can have a skin.
    """
    robot = ElementTree.parse(urdf).getroot()
    extension = ElementTree.SubElement(robot, "mujoco")
    options = {"strippath": "false", "fusestatic": "false", "discardvisual": "false"}
    ElementTree.SubElement(extension, "compiler", options)
    folder = robot_folder()
    for mesh in robot.iter("mesh"):
        mesh.set("filename", mesh.attrib["filename"].replace(f"package://{PACKAGE}", str(folder)))
    for link in robot.iter("link"):
        mass, inertia = link.find("inertial/mass"), link.find("inertial/inertia")
        if mass is not None and inertia is not None and float(mass.attrib["value"]):
            for moment in ("ixx", "iyy", "izz"):
                if float(inertia.attrib[moment]) == 0:
                    inertia.set(moment, repr(LEAST_INERTIA))
    _give_pads_to_tips(robot)
    return robot


def _give_pads_to_tips(robot: ElementTree.Element) -> None:
    """Move collision shapes at a tip's origin from the lower link to the tip link."""
    links = {link.attrib["name"]: link for link in robot.findall("link")}
    for joint in robot.findall("joint"):
        if "lower_to_tip" not in joint.attrib["name"]:
            continue
        lower, tip = (links[joint.find(end).attrib["link"]] for end in ("parent", "child"))  # type: ignore[union-attr]
        tip_origin = joint.find("origin").attrib["xyz"]  # type: ignore[union-attr]
        for shape in lower.findall("collision"):
            origin = shape.find("origin")
            if origin is not None and origin.attrib["xyz"] == tip_origin:
                lower.remove(shape)
                origin.set("xyz", "0 0 0")
                tip.append(shape)


def _place(robot: ElementTree.Element, position: Sequence[float]) -> None:
    """Place the base of a robot at a position (3,) in the world [m]."""
    ElementTree.SubElement(robot, "link", name="world")
    joint = ElementTree.SubElement(robot, "joint", name="world_to_base", type="fixed")
    ElementTree.SubElement(joint, "parent", link="world")
    ElementTree.SubElement(joint, "child", link="base_link")
    ElementTree.SubElement(joint, "origin", xyz=" ".join(map(repr, map(float, position))))


def _link_colors(robot: ElementTree.Element) -> dict[str, list[float]]:
    """Return the color (4,) of the first visual with a material of each link that has one."""
    materials = {
        material.attrib["name"]: [float(part) for part in color.attrib["rgba"].split()]
        for material in robot.findall("material")
        if (color := material.find("color")) is not None
    }
    return {
        link.attrib["name"]: materials[material.attrib["name"]]
        for link in robot.findall("link")
        if (material := link.find("visual/material")) is not None
    }


def _remove_visuals_like_collisions(robot: ElementTree.Element) -> None:
    """Remove visuals that have the same mesh and origin as a collision shape of their link."""

    def mesh_and_origin(shape: ElementTree.Element) -> tuple[str | None, dict[str, str]]:
        mesh, origin = shape.find("geometry/mesh"), shape.find("origin")
        return None if mesh is None else mesh.get("filename"), {} if origin is None else dict(origin.attrib)

    for link in robot.findall("link"):
        shapes = [mesh_and_origin(shape) for shape in link.findall("collision")]
        for visual in link.findall("visual"):
            if mesh_and_origin(visual) in shapes:
                link.remove(visual)


# -- convex parts --------------------------------------------------------------------------------------------


def _split_links(spec: mujoco.MjSpec, tips: Iterable[mujoco.MjsBody]) -> None:
    """Split the colliding geoms of links into convex parts; the original mesh is still drawn."""
    for geom in list(spec.geoms):
        if geom.meshname in CUTS:
            _split(spec, geom, CUTS[geom.meshname], geom.parent)
    for tip in tips:
        if not tip.geoms:
            [geom] = tip.parent.geoms
            # Links hang down from their joints when all angles are 0.
            _split(spec, geom, tip.pos[2] + TIP_LENGTH, tip)


def _split(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, height: float, below: mujoco.MjsBody) -> None:
    """Split a geom at a height in its link's frame [m]; add the lower part to the body ``below``."""
    link, mesh = geom.parent, spec.mesh(geom.meshname)
    vertices, faces = _read_mesh(mesh.file)
    vertices = vertices @ _matrix(geom.quat).T + geom.pos
    link.add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=geom.meshname,
        pos=geom.pos,
        quat=geom.quat,
        contype=0,
        conaffinity=0,
        mass=0,
    )
    geom.pos, geom.quat = np.zeros(3), (1.0, 0.0, 0.0, 0.0)
    geom.meshname = _add_mesh(spec, f"{mesh.name}_above", _clip(vertices, faces, height, 1.0))
    geom.group = COLLISION_GROUP
    below.add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=_add_mesh(spec, f"{mesh.name}_below", _clip(vertices, faces, height, -1.0)),
        pos=np.zeros(3) if below.name == link.name else -below.pos,
        group=COLLISION_GROUP,
        mass=0,
    )


def _read_mesh(file: str) -> tuple[np.ndarray, np.ndarray]:
    """Read the vertices (n, 3) of a mesh in the frame of its file [m], and its faces (m, 3)."""
    spec = mujoco.MjSpec()
    spec.add_mesh(name="mesh", file=file)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh")
    model = spec.compile()
    return model.mesh_vert @ _matrix(model.mesh_quat[0]).T + model.mesh_pos[0], model.mesh_face


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    """Convert a quaternion (w, x, y, z) to a rotation matrix (3, 3)."""
    out = np.empty(9)
    mujoco.mju_quat2Mat(out, quaternion)
    return out.reshape(3, 3)


def _clip(vertices: np.ndarray, faces: np.ndarray, height: float, side: float) -> np.ndarray:
    """Return the vertices (n, 3) of the part of a mesh above (side 1) or below (side -1) a height."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    a, b = vertices[edges[:, 0]], vertices[edges[:, 1]]
    crossing = (a[:, 2] - height) * (b[:, 2] - height) < 0
    a, b = a[crossing], b[crossing]
    part = (height - a[:, 2:]) / (b[:, 2:] - a[:, 2:])
    kept = vertices[side * (vertices[:, 2] - height) >= 0]
    return np.concatenate([kept, a + part * (b - a)])


def _add_mesh(spec: mujoco.MjSpec, name: str, vertices: np.ndarray) -> str:
    if spec.mesh(name) is None:
        spec.add_mesh(name=name, uservert=vertices.ravel().tolist())
    return name


# -- contacts of links ---------------------------------------------------------------------------------------


def _name_geoms(spec: mujoco.MjSpec, colors: dict[str, list[float]]) -> None:
    """Set names, colors and contact parameters of the robot's geoms.

    A colliding geom is named after its link, or ``<link>_part0``, ... if there are several. Other geoms are
    named ``<link>_visual0``, ...
    """
    for body in spec.bodies:
        colliding = [geom for geom in body.geoms if geom.contype]
        visuals = [geom for geom in body.geoms if not geom.contype]
        fixed = _moving_body(body) is None
        for number, geom in enumerate(colliding):
            geom.name = f"{body.name}_part{number}" if len(colliding) > 1 else body.name
            geom.rgba = colors.get(body.name, geom.rgba)
            geom.friction = (LINK_PAIR_FRICTION if fixed else LINK_FRICTION, TORSIONAL, ROLLING)
            geom.priority = LINK_PRIORITY + 1 if fixed else LINK_PRIORITY
            geom.solref, geom.solimp = LINK_SOLREF, LINK_SOLIMP
            geom.contype = geom.conaffinity = 1 | LINK_BIT
        for number, geom in enumerate(visuals):
            geom.name = f"{body.name}_visual{number}"
            geom.rgba = colors.get(body.name, geom.rgba)
            geom.mass = 0.0
            geom.group = 0


def _moving_link_geoms(spec: mujoco.MjSpec) -> list[mujoco.MjsGeom]:
    """Return the colliding geoms of the moving links."""
    return [geom for geom in spec.geoms if geom.priority == LINK_PRIORITY and geom.contype & LINK_BIT]


def _moving_body(body: mujoco.MjsBody) -> str | None:
    """Return the name of the nearest body with a joint among this body and its ancestors, or None."""
    while body.name != "world":
        if body.joints:
            return body.name
        body = body.parent
    return None


def _pair_links(spec: mujoco.MjSpec) -> None:
    """Add a contact pair for every two moving links that can collide.

    Pairs of links that are connected by a joint are omitted, as in MuJoCo's own collision filter.
    """
    for first, second in itertools.combinations(_moving_link_geoms(spec), 2):
        bodies = [_moving_body(geom.parent) for geom in (first, second)]
        parents = [_moving_body(spec.body(body).parent) for body in bodies]
        if bodies[0] != bodies[1] and bodies[0] != parents[1] and bodies[1] != parents[0]:
            _add_link_pair(spec, first.name, second.name, 2 * LINK_MARGIN)


def pair_with_links(spec: mujoco.MjSpec, wall: str) -> None:
    """Add contact pairs of a wall's geom with all moving links."""
    for geom in _moving_link_geoms(spec):
        _add_link_pair(spec, geom.name, wall)


def _add_link_pair(spec: mujoco.MjSpec, first: str, second: str, margin: float = 0.0) -> None:
    spec.add_pair(
        geomname1=first,
        geomname2=second,
        friction=(LINK_PAIR_FRICTION,) * 2 + (TORSIONAL, ROLLING, ROLLING),
        condim=3,
        solref=LINK_SOLREF,
        solimp=LINK_SOLIMP,
        margin=margin,
    )


# -- table and border ----------------------------------------------------------------------------------------


def _add_stage(spec: mujoco.MjSpec, finger_type: str) -> None:
    """Add floor, table (geom ``table``) and border (body ``border``, geoms ``border_0``, ...) to a robot."""
    single = finger_type not in STAGES
    stage = STAGES["finger" if single else finger_type]
    resting = {
        "solref": RESTING_SOLREF,
        "solimp": RESTING_SOLIMP,
        "margin": _sink(RESTING_SOLREF, RESTING_SOLIMP),
    }
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=(0, 0, FLOOR),
        size=(1, 1, 0.1),
        rgba=(0.4, 0.4, 0.4, 1),
        **resting,
    )
    table = spec.worldbody.add_body(name="table").add_geom(
        name="table",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=(0, 0, -stage.half_table[2]),
        size=stage.half_table,
        friction=(TABLE_FRICTION, TORSIONAL, ROLLING),
        rgba=stage.table_color,
        **resting,
    )
    friction = LINK_FRICTION
    if single:
        # In trifinger_simulation this table is part of the border's mesh.
        table.friction[0] = WALL_FRICTION
        table.group = COLLISION_GROUP
        friction = LINK_PAIR_FRICTION
    # Links collide with a plane, because contacts between a mesh and a box have tilted normals.
    _add_copy_for_links(spec, "table", friction, type=mujoco.mjtGeom.mjGEOM_PLANE, size=(1, 1, 0.1))
    _add_border(spec, stage)


def _add_border(spec: mujoco.MjSpec, stage: Stage) -> None:
    """Add the border's visual mesh, and prisms whose inner sides follow its profile."""
    body = spec.worldbody.add_body(name="border")
    spec.add_mesh(name="border", file=str(robot_folder() / "meshes" / stage.mesh))
    body.add_geom(
        name="border",
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname="border",
        contype=0,
        conaffinity=0,
        mass=0,
        rgba=stage.border_color,
    )
    for link in {geom.parent.name: None for geom in _moving_link_geoms(spec)}:
        for other in ("table", "border"):
            spec.add_exclude(bodyname1=other, bodyname2=link)
    angles = math.radians(stage.azimuth) + np.arange(stage.facets) * 2 * math.pi / stage.facets
    for layer, part in enumerate(stage.parts):
        heights, radii = np.array(part).T
        width = (radii[-1] + THICKNESS) * math.tan(math.pi / stage.facets)
        outwards = THICKNESS * np.array([heights[-1] - heights[0], radii[0] - radii[-1]])
        section = np.stack([radii, heights], axis=1)
        section = np.concatenate([section, section[[0, -1]] + outwards / math.dist(part[0], part[-1])])
        mesh = _add_mesh(
            spec, f"border_{layer}", np.array([(x, y, z) for x, z in section for y in (-width, width)])
        )
        for number, angle in enumerate(angles, layer * stage.facets):
            prism: dict[str, Any] = {
                "type": mujoco.mjtGeom.mjGEOM_MESH,
                "meshname": mesh,
                "quat": (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)),
            }
            name = f"border_{number}"
            body.add_geom(name=name, group=COLLISION_GROUP, mass=0, **WALL, **prism)
            _add_copy_for_links(spec, name, LINK_PAIR_FRICTION, **prism)


def _add_copy_for_links(spec: mujoco.MjSpec, name: str, friction: float, **shape: Any) -> None:
    """Add ``<name>_links``, a hidden copy of a geom on the world body that collides only with links."""
    spec.worldbody.add_geom(
        name=f"{name}_links",
        friction=(friction, TORSIONAL, ROLLING),
        priority=LINK_PRIORITY + 1,
        solref=LINK_SOLREF,
        solimp=LINK_SOLIMP,
        margin=LINK_MARGIN,
        contype=LINK_BIT,
        conaffinity=LINK_BIT,
        group=COLLISION_GROUP,
        mass=0,
        **shape,
    )


def support(spec: mujoco.MjSpec, name: str) -> None:
    """Make the contact between an object and the table, if any, as stiff as the time step allows.

    The object stops within one step and hardly rebounds. Friction stays as soft as with `RESTING_SOLREF`, for
    the reason given at `RESTING_SOLIMP`.

    Args:
        spec: Scene.
        name: Name of the object's geom, which must be a box with a friction of 1.
    """
    table = spec.geom("table")
    if table is None:
        return
    solref = (2.0 * spec.option.timestep, 2.0)
    spec.add_pair(
        geomname1="table",
        geomname2=name,
        friction=(table.friction[0],) * 2 + (TORSIONAL, ROLLING, ROLLING),
        condim=3,
        solref=solref,
        solreffriction=RESTING_SOLREF,
        solimp=RESTING_SOLIMP,
        margin=_sink(solref, RESTING_SOLIMP),
    )


def _sink(solref: tuple[float, float], solimp: tuple[float, float, float, float, float]) -> float:
    """Return the depth to which a box that rests on four corners sinks into the surface [m].

    The depth r depends on neither size nor mass: r = g (1 - d) / (4 d² k) with the impedance d(r) and
    k = 1 / (d_max² T² ζ²) (MuJoCo, "Solver parameters"). With a contact margin of r, contact starts at a
    height of r above the surface, so the box comes to rest at the height of the surface.

    Args:
        solref: Time constant T [s] and damping ratio ζ.
        solimp: d_0, d_max, width [m], midpoint 0.5 and power 2.
    """
    time_constant, damping_ratio = solref
    low, high, width, _, _ = solimp
    stiffness = 1.0 / (high * time_constant * damping_ratio) ** 2
    depth = 0.0
    for _ in range(50):
        part = min(depth / width, 1.0)
        rise = 2.0 * part**2 if part < 0.5 else 1.0 - 2.0 * (1.0 - part) ** 2
        impedance = low + rise * (high - low)
        depth = (depth + 9.81 * (1.0 - impedance) / (4.0 * impedance**2 * stiffness)) / 2.0
    return depth

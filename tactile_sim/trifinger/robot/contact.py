"""Set the friction between links, objects and walls to Bullet's values.

Bullet multiplies the friction coefficients of two bodies. MuJoCo uses those of the geom with the higher
priority, or the larger ones at equal priority. In trifinger_simulation links and walls have a friction of
0.5, and objects, table and floor have 1, so the products are:

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

Bullet enlarges the hull of a link by a margin of 1 mm. Here, contacts of links with each other and with the
stage have this margin. Contacts of moving links with objects and fixed links are at the surface of the mesh.
"""

from __future__ import annotations

import itertools
from typing import Any

import mujoco

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
WALL_SOLREF = (0.004, 2.0)
"""Time constant [s] and damping ratio of contacts between objects and walls: stiff, without rebound."""
COLLISION_GROUP = 3
"""Geom group of colliding shapes that are not drawn."""


def set_link_contact(geom: mujoco.MjsGeom) -> None:
    """Set the contact parameters of a link's geom."""
    fixed = _moving_body(geom.parent) is None
    geom.friction = (LINK_PAIR_FRICTION if fixed else LINK_FRICTION, TORSIONAL, ROLLING)
    geom.priority = LINK_PRIORITY + 1 if fixed else LINK_PRIORITY
    geom.solref, geom.solimp = LINK_SOLREF, LINK_SOLIMP
    geom.contype = geom.conaffinity = 1 | LINK_BIT


def moving_link_geoms(spec: mujoco.MjSpec) -> list[mujoco.MjsGeom]:
    """Return the colliding geoms of the moving links."""
    return [geom for geom in spec.geoms if geom.priority == LINK_PRIORITY and geom.contype & LINK_BIT]


def pair_links(spec: mujoco.MjSpec) -> None:
    """Add a contact pair for every two moving links that can collide.

    Pairs of links that are connected by a joint are omitted, as in MuJoCo's own collision filter.

    Args:
        spec: Robot whose geoms already have names and contact parameters.
    """
    for first, second in itertools.combinations(moving_link_geoms(spec), 2):
        bodies = [_moving_body(geom.parent) for geom in (first, second)]
        parents = [_moving_body(spec.body(body).parent) for body in bodies]
        if bodies[0] != bodies[1] and bodies[0] != parents[1] and bodies[1] != parents[0]:
            pair_with_friction(spec, first.name, second.name, 2 * LINK_MARGIN)


def pair_with_friction(spec: mujoco.MjSpec, first: str, second: str, margin: float = 0.0) -> None:
    """Add a contact pair with the friction `LINK_PAIR_FRICTION`.

    Args:
        spec: Scene to extend.
        first: Name of a link's geom.
        second: Name of the geom of another link or a wall.
        margin: Distance at which they touch [m].
    """
    friction = (LINK_PAIR_FRICTION,) * 2 + (TORSIONAL, ROLLING, ROLLING)
    spec.add_pair(
        geomname1=first,
        geomname2=second,
        friction=friction,
        condim=3,
        solref=LINK_SOLREF,
        solimp=LINK_SOLIMP,
        margin=margin,
    )


def add_wall(spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, **shape: Any) -> None:
    """Add a border geom that collides with objects, and a copy on the world body that collides with links.

    Args:
        spec: Scene.
        body: Fixed body at the world's origin; collisions between it and links must be excluded.
        name: Name of the geom; its copy is called ``<name>_links``.
        shape: Shape arguments for ``add_geom``.
    """
    body.add_geom(name=name, **wall_contact(), group=COLLISION_GROUP, mass=0, **shape)
    add_for_links(spec, name, LINK_PAIR_FRICTION, **shape)


def add_for_links(spec: mujoco.MjSpec, name: str, friction: float, **shape: Any) -> None:
    """Add a hidden copy of a geom to the world body, which collides only with links.

    Args:
        spec: Scene.
        name: Name of the geom; its copy is called ``<name>_links``.
        friction: Sliding friction of links against the copy.
        shape: Shape arguments for ``add_geom``.
    """
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


def wall_contact() -> dict[str, Any]:
    """Return the parameters of contacts between walls and objects, as arguments for ``add_geom``."""
    return {
        "friction": (WALL_FRICTION, TORSIONAL, ROLLING),
        "priority": WALL_PRIORITY,
        "solref": WALL_SOLREF,
    }


def _moving_body(body: mujoco.MjsBody) -> str | None:
    """Return the name of the nearest body with a joint among this body and its ancestors, or None."""
    while body.name != "world":
        if body.joints:
            return body.name
        body = body.parent
    return None

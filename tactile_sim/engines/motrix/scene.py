"""Conversion of a scene to MJCF that motrixsim can load, with additional sensors and motors."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path

import mujoco
import numpy as np

from tactile_sim.engines.motrix.activations import DYNAMICS
from tactile_sim.errors import EngineError
from tactile_sim.mujoco_log import without_compiler_warnings
from tactile_sim.names import Names

PREFIX = "tactile_sim/"
"""Name prefix of added elements, and of unnamed elements whose generated name is already used."""
PAIR = PREFIX + "pair/"
"""Name prefix of contact sensors on pairs of geoms, followed by the ids of the geoms."""
NET = PREFIX + "net/"
"""Name prefix of net-force sensors, followed by the id of the contact sensor whose force they measure."""
MOTOR = PREFIX + "motor/"
"""Name prefix of motors for applied forces, followed by the index of the degree of freedom."""
SLOTS = 8
"""Maximum number of contacts that are read for each pair of geoms."""
_REMEDY = "; remove it, or set engine: mujoco"
FIELDS = "found force torque dist pos normal tangent"

_UNSEEN = ("custom", "extension", "keyframe", "sensor", "size", "statistic", "visual")
"""Top-level MJCF elements to remove, because they do not affect the motion or are written separately."""
_LOOKS = ("camera", "light", "material", "texture")
_WIDTHS = {int(mujoco.mjtJoint.mjJNT_FREE): 6, int(mujoco.mjtJoint.mjJNT_BALL): 3}
_SIDES = {
    int(mujoco.mjtObj.mjOBJ_GEOM): "geom",
    int(mujoco.mjtObj.mjOBJ_BODY): "body",
    int(mujoco.mjtObj.mjOBJ_XBODY): "subtree",
}


def with_names(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Return a copy of a spec in which all bodies, geoms, joints and actuators have names.

    Unnamed elements get the name that `tactile_sim.names.Names` generates, unless it is already used.
    """
    copy = spec.copy()
    with without_compiler_warnings():
        names = Names(copy.compile())
    for kind in ("bodies", "geoms", "joints", "actuators"):
        elements = getattr(copy, kind)
        taken = {element.name for element in elements}
        for element in elements:
            if not element.name:
                made = getattr(names, kind)[element.id]
                element.name = made if made not in taken else f"{PREFIX}{kind}/{element.id}"
    return copy


def pairs_that_may_touch(model: mujoco.MjModel) -> np.ndarray:
    """Return the pairs of geoms that may collide according to MuJoCo's rules, which motrixsim follows.

    Args:
        model: The model.

    Returns:
        (n, 2) int32 geom ids, the lower one first.
    """
    first, second = np.triu_indices(model.ngeom, 1)
    bodies = model.geom_bodyid[np.stack([first, second])]
    welded = model.body_weldid[bodies]
    types, affinities = model.geom_contype, model.geom_conaffinity
    wanted = (types[first] & affinities[second]) | (types[second] & affinities[first]) != 0
    wanted &= welded[0] != welded[1]
    if not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT:
        parents = model.body_weldid[model.body_parentid[welded]]
        related = (parents[0] == welded[1]) | (parents[1] == welded[0])
        wanted &= ~(related & (welded[0] != 0) & (welded[1] != 0))
    for a, b in ((bodies[0], bodies[1]), (bodies[1], bodies[0])):
        wanted &= ~np.isin((a << 16) + b, model.exclude_signature)
    found = {*zip(first[wanted].tolist(), second[wanted].tolist(), strict=True)}
    explicit = np.stack([model.pair_geom1, model.pair_geom2], axis=1)
    found |= {(min(pair), max(pair)) for pair in explicit.tolist()}
    return np.array(sorted(found), np.int32).reshape(-1, 2)


def write_mjcf(
    spec: mujoco.MjSpec, model: mujoco.MjModel, pairs: Iterable[tuple[int, int]], nets: Iterable[int]
) -> str:
    """Write a scene as MJCF for motrixsim, with a contact sensor on each pair of geoms.

    Args:
        spec: The scene. All elements must have names, see ``with_names``.
        model: The compiled spec.
        pairs: Geom ids of the pairs.
        nets: Ids of the scene's contact sensors whose net forces are to be measured as well.

    Returns:
        The MJCF as text.
    """
    scene = ElementTree.fromstring(spec.to_xml())
    _strip(scene)
    _make_files_absolute(scene, spec)
    _write_inertias(scene, model)
    actuators = _section(scene, "actuator")
    _write_activations_as_controls(actuators, model)
    for joint in range(model.njnt):
        width = _WIDTHS.get(int(model.jnt_type[joint]), 1)
        for axis, gear in enumerate(np.eye(6, dtype=int)[:width]):
            ElementTree.SubElement(
                actuators, "general", name=f"{MOTOR}{model.jnt_dofadr[joint] + axis}",
                joint=model.joint(joint).name, gear=" ".join(map(str, gear)),
                dyntype="none", gaintype="fixed", gainprm="1", biastype="none", biasprm="0",
                ctrllimited="false", forcelimited="false",
            )  # fmt: skip
    sensors = _section(scene, "sensor")
    for a, b in pairs:
        ElementTree.SubElement(
            sensors, "contact", name=f"{PAIR}{a}/{b}", geom1=model.geom(a).name, geom2=model.geom(b).name,
            num=str(SLOTS), data=FIELDS,
        )  # fmt: skip
    for sensor in nets:
        asked = {"name": f"{NET}{sensor}", "data": "force", "reduce": "netforce", "num": "1"}
        ElementTree.SubElement(sensors, "contact", {**asked, **_sides(model, sensor)})
    return ElementTree.tostring(scene, encoding="unicode")


def has_net_force(model: mujoco.MjModel, sensor: int) -> bool:
    """Return whether motrixsim can measure the net force of a contact sensor directly.

    This requires two objects of the same kind, neither of which is the world.
    """
    kinds = model.sensor_objtype[sensor], model.sensor_reftype[sensor]
    things = model.sensor_objid[sensor], model.sensor_refid[sensor]
    whole = kinds[0] != mujoco.mjtObj.mjOBJ_GEOM and 0 in things
    return kinds[0] == kinds[1] and kinds[0] in _SIDES and not whole


def _sides(model: mujoco.MjModel, sensor: int) -> dict[str, str]:
    kind = int(model.sensor_objtype[sensor])
    get = model.geom if kind == mujoco.mjtObj.mjOBJ_GEOM else model.body
    things = int(model.sensor_objid[sensor]), int(model.sensor_refid[sensor])
    return {f"{_SIDES[kind]}{k}": get(thing).name for k, thing in enumerate(things, 1)}


def _section(scene: ElementTree.Element, tag: str) -> ElementTree.Element:
    found = scene.find(tag)
    return ElementTree.SubElement(scene, tag) if found is None else found


def _strip(scene: ElementTree.Element) -> None:
    for parent in list(scene.iter()):
        for element in list(parent):
            if element.tag in _LOOKS or (parent is scene and element.tag in _UNSEEN):
                parent.remove(element)
        parent.attrib.pop("material", None)
        # Gain and bias define a position actuator completely.
        parent.attrib.pop("input", None)


def _write_activations_as_controls(actuators: ElementTree.Element, model: mujoco.MjModel) -> None:
    """Remove the dynamics of stateful actuators, because their activations are passed as controls."""
    for element in actuators:
        if model.actuator(element.attrib["name"]).dyntype[0] in DYNAMICS:
            for key in ("dynprm", "actdim", "actlimited", "actrange", "actearly", "ctrlrange"):
                element.attrib.pop(key, None)
            element.attrib |= {"dyntype": "none", "ctrllimited": "false"}


def _make_files_absolute(scene: ElementTree.Element, spec: mujoco.MjSpec) -> None:
    """Make file names absolute, because motrixsim gets the scene as text and does not know its folder."""
    folder = Path(spec.modelfiledir or os.curdir) / (spec.meshdir or "")
    for element in scene.iterfind("asset/*[@file]"):
        element.set("file", str((folder / element.attrib["file"]).absolute()))
    for compiler in scene.iterfind("compiler"):
        for key in ("meshdir", "texturedir", "assetdir", "strippath"):
            compiler.attrib.pop(key, None)


def _write_inertias(scene: ElementTree.Element, model: mujoco.MjModel) -> None:
    """Write MuJoCo's inertias explicitly, so that motrixsim does not compute them from shapes."""
    for element in scene.iterfind("worldbody//body"):
        for inertial in element.findall("inertial"):
            element.remove(inertial)
        body = model.body(element.attrib["name"])
        if body.mass[0] == 0.0:
            continue
        numbers = {"pos": body.ipos, "quat": body.iquat, "mass": body.mass, "diaginertia": body.inertia}
        text = {key: " ".join(map(repr, map(float, value))) for key, value in numbers.items()}
        element.insert(0, ElementTree.Element("inertial", text))


def reject_dropped(model: mujoco.MjModel, joints: set[str], actuators: list[str]) -> None:
    """Reject a scene if motrixsim has dropped a joint or an actuator, which would change the motion.

    Args:
        model: The compiled scene with names.
        joints: Names of the joints and floating bases in motrixsim.
        actuators: Names of the actuators in motrixsim.

    Raises:
        EngineError: A joint or actuator is missing.
    """
    for word, count, get, known in (
        ("joint", model.njnt, model.joint, joints),
        ("actuator", model.nu, model.actuator, actuators),
    ):
        name = next((get(k).name for k in range(count) if get(k).name not in known), None)
        if name is not None:
            raise EngineError(f"engine 'motrix' does not support the {word} {name!r} of the scene{_REMEDY}")


def reject_welds_to_world(model: mujoco.MjModel) -> None:
    """Reject welds of a body to the world, which motrixsim places incorrectly.

    Raises:
        EngineError: The scene has such a weld.
    """
    for k in np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_WELD).tolist():
        bodies = {int(model.eq_obj1id[k]), int(model.eq_obj2id[k])}
        if model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_BODY and 0 in bodies:
            name = model.body(max(bodies)).name
            raise EngineError(
                f"engine 'motrix' does not support the weld of body {name!r} to the world; weld a site of the"
                " body to a site of the world (site1, site2), or set engine: mujoco"
            )

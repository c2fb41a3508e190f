"""A scene as motrixsim takes it: what it cannot read left out, what we need to read it added."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path

import mujoco
import numpy as np

from tactile_sim.errors import EngineError
from tactile_sim.names import Names

PREFIX = "tactile_sim/"
"""Begins the names of all that is added or was unnamed."""
PAIR = PREFIX + "pair/"
"""A contact sensor on two geoms: then come their ids."""
NET = PREFIX + "net/"
"""A contact sensor that gives the net force of one of the scene's: then comes its id."""
MOTOR = PREFIX + "motor/"
"""A motor for the forces applied to a joint: then comes its id."""
SLOTS = 8
"""The most contacts that are read of two geoms."""
_REMEDY = "; take it out, or set engine: mujoco"
FIELDS = "found force torque dist pos normal tangent"

_UNSEEN = ("custom", "extension", "keyframe", "sensor", "size", "statistic", "visual")
"""Elements that have no part in the motion, or that are put in anew."""
_LOOKS = ("camera", "light", "material", "texture")
_SCALAR = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
_SIDES = {
    int(mujoco.mjtObj.mjOBJ_GEOM): "geom",
    int(mujoco.mjtObj.mjOBJ_BODY): "body",
    int(mujoco.mjtObj.mjOBJ_XBODY): "subtree",
}


def named(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """A copy in which all bodies, geoms, joints and actuators bear names, where possible those of `Names`."""
    copy = spec.copy()
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
    """(n, 2) ids of the geoms that may touch, by MuJoCo's rules, which motrixsim keeps; lower id first."""
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
    """The MJCF that motrixsim loads, with a contact sensor on each pair of geoms.

    spec: all of whose elements are ``named``; model: what it compiles to; nets: contact sensors of the scene
    whose net forces are to be told as well.
    """
    scene = ElementTree.fromstring(spec.to_xml())
    _strip(scene)
    _make_files_absolute(scene, spec)
    _state_inertias(scene, model)
    actuators = _section(scene, "actuator")
    for joint in np.flatnonzero(np.isin(model.jnt_type, _SCALAR)).tolist():
        ElementTree.SubElement(
            actuators, "general", name=f"{MOTOR}{joint}", joint=model.joint(joint).name, gear="1",
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


def net_force_is_told(model: mujoco.MjModel, sensor: int) -> bool:
    """Whether motrixsim itself takes a contact sensor: one on two of a kind, none of them the world."""
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
        # How a position actuator was written down; gain and bias say all of it.
        parent.attrib.pop("input", None)


def _make_files_absolute(scene: ElementTree.Element, spec: mujoco.MjSpec) -> None:
    """The scene is handed over as text: nothing in it can be relative to a file."""
    folder = Path(spec.modelfiledir or os.curdir) / (spec.meshdir or "")
    for element in scene.iterfind("asset/*[@file]"):
        element.set("file", str((folder / element.attrib["file"]).absolute()))
    for compiler in scene.iterfind("compiler"):
        for key in ("meshdir", "texturedir", "assetdir", "strippath"):
            compiler.attrib.pop(key, None)


def _state_inertias(scene: ElementTree.Element, model: mujoco.MjModel) -> None:
    """Masses as MuJoCo has them, so that nobody reckons them from shapes a second time."""
    for element in scene.iterfind("worldbody//body"):
        for inertial in element.findall("inertial"):
            element.remove(inertial)
        body = model.body(element.attrib["name"])
        if body.mass[0] == 0.0:
            continue
        numbers = {"pos": body.ipos, "quat": body.iquat, "mass": body.mass, "diaginertia": body.inertia}
        text = {key: " ".join(map(repr, map(float, value))) for key, value in numbers.items()}
        element.insert(0, ElementTree.Element("inertial", text))


def refuse_unknown(model: mujoco.MjModel, joints: set[str], actuators: list[str]) -> None:
    """Raises EngineError where motrixsim dropped a joint or an actuator: the motion would be another."""
    for word, count, get, known in (
        ("joint", model.njnt, model.joint, joints),
        ("actuator", model.nu, model.actuator, actuators),
    ):
        name = next((get(k).name for k in range(count) if get(k).name not in known), None)
        if name is not None:
            raise EngineError(f"engine 'motrix' does not take the {word} {name!r} of the scene{_REMEDY}")


def refuse_welds_to_the_world(model: mujoco.MjModel) -> None:
    """Raises EngineError for a weld of a body to the world, which motrixsim would hold elsewhere."""
    for k in np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_WELD).tolist():
        bodies = {int(model.eq_obj1id[k]), int(model.eq_obj2id[k])}
        if model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_BODY and 0 in bodies:
            name = model.body(max(bodies)).name
            raise EngineError(
                f"engine 'motrix' takes no weld of body {name!r} to the world; weld a site of it to a site of"
                " the world (site1, site2), or set engine: mujoco"
            )

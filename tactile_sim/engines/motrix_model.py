"""Scenes loaded into motrixsim, and their simulation states as arrays in MuJoCo's order."""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import EngineError
from tactile_sim.common.names import Names
from tactile_sim.engines.contacts import Contacts
from tactile_sim.scenes.faults import without_compiler_warnings

_LOG = logging.getLogger("tactile_sim.motrix")
_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
_XYZW = np.array([3, 0, 1, 2])
"""Indices of w, x, y and z in motrixsim's quaternions, which are in the order xyzw."""
_INTEGRATOR = int(mujoco.mjtDyn.mjDYN_INTEGRATOR)
_EXACT = int(mujoco.mjtDyn.mjDYN_FILTEREXACT)
DYNAMICS = (_INTEGRATOR, int(mujoco.mjtDyn.mjDYN_FILTER), _EXACT)
"""Types of activation dynamics (mjtDyn) that `Activations` integrates; motrixsim supports no others."""
_LEAST = 1e-15  # MuJoCo's mjMINVAL
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
WIDTH = 1 + SLOTS * 16
"""Number of values that a contact sensor returns: the number of contacts and the values of all slots."""
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_WARNING = re.compile(r"^\S+Z\s+WARN \S+: (.*)$")
_PLACE = re.compile(r" at line: \d+$")


# -- the package ------------------------------------------------------------------------------------------


def motrixsim() -> ModuleType:
    """Import motrixsim, or raise EngineError with the command that installs it."""
    try:
        with captured_output():
            import motrixsim
    except ImportError as error:
        why = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
        raise EngineError(
            f"engine 'motrix' needs the package motrixsim, which is not installed{why}: "
            f"{sys.executable} -m pip install 'motrixsim<0.11' (make setup does it)"
        ) from None
    return motrixsim


def is_panic(error: BaseException) -> bool:
    """Return whether an exception is a panic of motrixsim, which derives from BaseException."""
    return type(error).__name__ == "PanicException"


@contextmanager
def engine_errors(failure: str) -> Iterator[None]:
    """Convert all errors of motrixsim, including panics, to EngineError: "engine 'motrix' <failure>: ..."."""
    try:
        yield
    except EngineError:
        raise
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            raise EngineError(f"engine 'motrix' {failure}: {' '.join(str(error).split())}") from None
        raise


@contextmanager
def captured_output() -> Iterator[list[str]]:
    """Capture terminal output, including that of native code.

    At the end of the block, the lines of output are added to the yielded list.
    """
    lines: list[str] = []
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(stream) for stream in (1, 2)]
    with tempfile.TemporaryFile() as file:
        try:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
            yield lines
        finally:
            for stream, copy in zip((1, 2), saved, strict=True):
                os.dup2(copy, stream)
                os.close(copy)
            file.seek(0)
            lines += _COLORS.sub("", file.read().decode("utf-8", "replace")).splitlines()


def ignored_features(lines: list[str]) -> list[str]:
    """Return what motrixsim reports as ignored in its terminal output, each element or attribute once."""
    found: dict[str, None] = {}
    listing = False
    for line in lines:
        if warning := _WARNING.match(line):
            listing = warning[1].startswith("These fields")
            if not listing:
                found[_PLACE.sub("", warning[1])] = None
        elif listing and _PLACE.search(line):
            element, _, attribute = _PLACE.sub("", line).partition("@")
            found[f"{element} {attribute}".strip()] = None
        else:
            listing = False
    return list(found)


# -- the scene --------------------------------------------------------------------------------------------


def with_names(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Return a copy of a spec in which all bodies, geoms, joints and actuators have names.

    Unnamed elements get the name that `tactile_sim.common.names.Names` generates, unless it is already used.
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
    """Return the pairs (n, 2) of geoms that may collide by MuJoCo's rules, the lower id first."""
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
    """Return a scene whose elements all have names as MJCF for motrixsim.

    It has a contact sensor on each pair of geoms, and one for the net force of each of the scene's contact
    sensors in ``nets``.
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
    """Return whether motrixsim can measure a sensor's net force: of two like objects, not the world."""
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
    """Reject a scene if motrixsim has dropped a joint or an actuator, which would change the motion."""
    for word, count, get, known in (
        ("joint", model.njnt, model.joint, joints),
        ("actuator", model.nu, model.actuator, actuators),
    ):
        name = next((get(k).name for k in range(count) if get(k).name not in known), None)
        if name is not None:
            raise EngineError(f"engine 'motrix' does not support the {word} {name!r} of the scene{_REMEDY}")


def reject_welds_to_world(model: mujoco.MjModel) -> None:
    """Reject welds of a body to the world, which motrixsim places incorrectly."""
    for k in np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_WELD).tolist():
        bodies = {int(model.eq_obj1id[k]), int(model.eq_obj2id[k])}
        if model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_BODY and 0 in bodies:
            name = model.body(max(bodies)).name
            raise EngineError(
                f"engine 'motrix' does not support the weld of body {name!r} to the world; weld a site of the"
                " body to a site of the world (site1, site2), or set engine: mujoco"
            )


# -- loaded scenes and their states -----------------------------------------------------------------------


class Activations:
    """Integrator for the activations in all environments, which gives the same results as MuJoCo.

    In motrixsim, stateful actuators have no dynamics, and their activations are passed as controls.
    """

    def __init__(self, model: mujoco.MjModel):
        """Read the parameters of the stateful actuators."""
        kinds = model.actuator_dyntype
        self.actuators = np.flatnonzero(np.isin(kinds, DYNAMICS))
        """(k,) ids of the stateful actuators."""
        chosen = self.actuators
        self._addresses = model.actuator_actadr[chosen]
        clamped = (model.actuator_ctrllimited[chosen] != 0) & (
            not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL
        )
        self._controls = _range(model.actuator_ctrlrange[chosen], clamped)
        self._limits = _range(model.actuator_actrange[chosen], model.actuator_actlimited[chosen] != 0)
        self._early = model.actuator_actearly[chosen] != 0
        self._integrates = kinds[chosen] == _INTEGRATOR
        time_constant = np.maximum(model.actuator_dynprm[chosen, 0], _LEAST)
        step = model.opt.timestep
        exact = -np.expm1(-step / time_constant)
        self._gain = np.where(kinds[chosen] == _EXACT, exact, step / time_constant)
        self._gain[self._integrates] = step

    def __len__(self) -> int:
        return len(self.actuators)

    def next(self, ctrl: np.ndarray, act: np.ndarray) -> np.ndarray:
        """Return the activations (..., na) after one time step with controls (..., nu)."""
        out = act.copy()
        now = act[..., self._addresses]
        wanted = np.clip(ctrl[..., self.actuators], *self._controls)
        later = now + self._gain * np.where(self._integrates, wanted, wanted - now)
        out[..., self._addresses] = np.clip(later, *self._limits)
        return out

    def inputs(self, ctrl: np.ndarray, act: np.ndarray) -> np.ndarray:
        """Return controls (..., nu) in which those of stateful actuators are replaced by activations."""
        if not len(self):
            return ctrl
        out = ctrl.copy()
        later = self.next(ctrl, act) if self._early.any() else act
        out[..., self.actuators] = np.where(
            self._early, later[..., self._addresses], act[..., self._addresses]
        )
        return out


def _range(limits: np.ndarray, limited: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds (k,) from limits (k, 2), infinite where ``limited`` (k,) is False."""
    return np.where(limited, limits[:, 0], -np.inf), np.where(limited, limits[:, 1], np.inf)


def read_raw(raw: np.ndarray, flipped: np.ndarray) -> Contacts:
    """Return the contacts measured by the sensors on the p pairs of geoms in all environments.

    ``raw`` (p, WIDTH) are the float32 values of the sensors, and ``flipped`` (p,) is True if motrixsim lists
    the two geoms in the opposite order. Only position, frame, distance, wrench and index (that of the pair)
    are set. In contrast to motrixsim's values, the position is midway between the surfaces, the frame is
    right-handed and orthonormal in double precision, and the signs of the wrench match it.
    """
    return Contacts(*_core.read_motrix(raw, flipped))


def sliding_friction(model: mujoco.MjModel, geoms: np.ndarray) -> np.ndarray:
    """Return the coefficient (n,) of sliding friction between the geoms of each pair (n, 2).

    The geom with the higher priority determines the coefficient. If the priorities are equal, the larger
    coefficient is used.
    """
    coefficients, priority = model.geom_friction[geoms, 0], model.geom_priority[geoms]
    higher = coefficients[np.arange(len(geoms)), priority.argmax(axis=1)]
    return np.where(priority[:, 0] == priority[:, 1], coefficients.max(axis=1), higher)


class MotrixModel:
    """A scene loaded by motrixsim, with index maps from MuJoCo's qpos, qvel and ctrl."""

    def __init__(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, pairs: np.ndarray, nets: Sequence[int] = ()
    ) -> None:
        """Load a scene.

        The contacts of the geom pairs (p, 2) and the net forces of the contact sensors ``nets`` are read.
        """
        self.package = motrixsim()
        spec = with_names(spec)
        with without_compiler_warnings():
            names = spec.compile()
        reject_welds_to_world(names)
        mjcf = write_mjcf(spec, names, pairs.tolist(), nets)
        with engine_errors("cannot load the scene"), captured_output() as lines:
            self.scene = self.package.load_mjcf_str(mjcf)
        self.pairs = pairs
        self._geoms = [model.geom(k).name or f"geom {k}" for k in range(model.ngeom)]
        self._truncated: set[int] = set()
        bases = {base.name: base for base in self.scene.floating_bases}
        joints = {joint.name: joint for joint in self.scene.joints}
        reject_dropped(names, {*bases, *joints}, self.scene.actuator_names)
        self.positions = np.empty(model.nq, int)
        """(nq,) index of each element of ``qpos`` in motrixsim's positions."""
        self.velocities = np.empty(model.nv, int)
        """(nv,) index of each element of ``qvel`` in motrixsim's velocities."""
        for joint in range(model.njnt):
            name, kind = names.joint(joint).name, model.jnt_type[joint]
            if kind == _FREE:
                start, speed = bases[name].dof_pos_start, bases[name].dof_vel_start
            else:
                index = joints[name].index
                start = self.scene.joint_dof_pos_indices[index]
                speed = self.scene.joint_dof_vel_indices[index]
            q, v = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
            where = {_FREE: np.array([0, 1, 2, *3 + _XYZW]), _BALL: _XYZW}.get(kind, np.zeros(1, int))
            self.positions[q : q + len(where)] = start + where
            width = {_FREE: 6, _BALL: 3}.get(kind, 1)
            self.velocities[v : v + width] = speed + np.arange(width)
        self.inputs = np.array([_input(name, names) for name in self.scene.actuator_names], int)
        """Index of each motrixsim actuator into the concatenation of ``ctrl`` and ``qfrc_applied``."""
        self.activations = Activations(model)
        sensors = {sensor.name: sensor for sensor in self.scene.low.low_contact_sensors}
        self._pair_names = [f"{PAIR}{a}/{b}" for a, b in pairs.tolist()]
        for name, pair in zip(self._pair_names, pairs.tolist(), strict=True):
            if name not in sensors:
                one, other = (names.geom(geom).name for geom in pair)
                raise EngineError(
                    f"engine 'motrix' does not report contacts of the geoms {one!r} and {other!r}"
                )
        orders = [sensors[name].collider_pairs[0] for name in self._pair_names]
        self.flipped = np.array([first > second for first, second in orders], bool)
        """(p,) bool, True if motrixsim lists the two geoms of a pair in the opposite order."""
        self.nets = [sensor for sensor in nets if f"{NET}{sensor}" in sensors]
        mocaps = [body for body in range(model.nbody) if model.body_mocapid[body] >= 0]
        self.mocaps = [
            (int(model.body_mocapid[body]), self.scene.get_body(names.body(body).name).mocap)
            for body in mocaps
        ]
        parts = ignored_features(lines)
        self.unsupported = [f"ignored in the scene: {', '.join(parts)}"] if parts else []
        """One line with the features that motrixsim reports as ignored; empty if there are none."""

    def state_query(self) -> Any:
        """Return a motrixsim query that reads positions and velocities, in motrixsim's order."""
        query = self.package.query
        return self.scene.compile_query({"q": query.DofPosition(), "v": query.DofVelocity()})

    def warn_of_truncation(self, raw: np.ndarray) -> None:
        """Warn once of each pair of geoms with more contacts in ``raw`` (n * p, WIDTH) than are read."""
        for row in np.flatnonzero(raw[:, 0] > SLOTS).tolist():
            pair = row % len(self.pairs)
            if pair not in self._truncated:
                self._truncated.add(pair)
                _LOG.warning(
                    "engine 'motrix': %s and %s have %d contacts, of which %d are reported",
                    *(self._geoms[geom] for geom in self.pairs[pair]), raw[row, 0], SLOTS,
                )  # fmt: skip

    def contact_query(self) -> Any:
        """Return a motrixsim query that reads the contact sensors of all geom pairs."""
        return self.scene.compile_query({"contacts": self.package.query.SensorValues(self._pair_names)})


def _input(actuator: str, names: mujoco.MjModel) -> int:
    """Return the index of a motrixsim actuator into the concatenation of ``ctrl`` and ``qfrc_applied``."""
    if actuator.startswith(MOTOR):
        return names.nu + int(actuator.removeprefix(MOTOR))
    return int(names.actuator(actuator).id)


class MotrixState:
    """The state of one or several environments; all arrays are in MuJoCo's order."""

    def __init__(self, model: MotrixModel, shape: Sequence[int] = ()):
        """Create the initial state of one environment, or of n environments with the shape (n,)."""
        self._model = model
        self.data = model.package.SceneData(model.scene, batch=list(shape))
        self._shape = tuple(shape)
        self._query = model.state_query().allocate(self.data)
        self._contact_query = model.contact_query().allocate(self.data) if len(model.pairs) else None

    def place(self, qpos: np.ndarray, qvel: np.ndarray, envs: np.ndarray | None = None) -> None:
        """Set positions (..., nq) and velocities (..., nv) in all environments or in those of a mask."""
        model = self._model
        if not len(model.positions):
            return
        positions, velocities = np.empty(qpos.shape, np.float32), np.empty(qvel.shape, np.float32)
        positions[..., model.positions], velocities[..., model.velocities] = qpos, qvel
        data = self.data if envs is None else self.data[envs]
        data.set_dof_pos(positions, model.scene)
        data.set_dof_vel(velocities)

    def control(self, ctrl: np.ndarray, act: np.ndarray, applied: np.ndarray) -> None:
        """Set controls (..., nu), activations (..., na) and applied forces (..., nv) [N m, N]."""
        if len(self._model.inputs):  # motrixsim panics on an empty array
            ctrl = self._model.activations.inputs(ctrl, act)
            inputs = np.concatenate([ctrl, applied], axis=-1)[..., self._model.inputs]
            # motrixsim ignores strides.
            self.data.actuator_ctrls = np.ascontiguousarray(inputs, np.float32)

    def place_mocaps(self, positions: np.ndarray, quaternions: np.ndarray) -> None:
        """Set positions (..., nmocap, 3) [m] and orientations (..., nmocap, 4), wxyz, of mocap bodies."""
        for mocap, body in self._model.mocaps:
            parts = positions[..., mocap, :], np.roll(quaternions[..., mocap, :], -1, axis=-1)
            body.set_pose(self.data, np.concatenate(parts, axis=-1).astype(np.float32))

    def step(self, n: int, envs: np.ndarray | None = None) -> None:
        """Advance n time steps in the environments selected by the mask ``envs``, or in all if it is None."""
        self._model.scene.step_n(self.data if envs is None else self.data[envs], n)

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the current positions (..., nq) and velocities (..., nv) in MuJoCo's order."""
        program = self._query.execute(self.data)
        model = self._model
        return (
            program["q"][..., model.positions].astype(np.float64),
            program["v"][..., model.velocities].astype(np.float64),
        )

    def contacts(self) -> np.ndarray:
        """Return a view of the contact sensors' values (..., p, WIDTH) for the state before the last step."""
        if self._contact_query is None:
            return np.zeros((*self._shape, 0, WIDTH), np.float32)
        return self._contact_query.execute(self.data)["contacts"].reshape(*self._shape, -1, WIDTH)

    def net_forces(self, sensor: int) -> np.ndarray:
        """Return the net force (..., 3) of a sensor in ``nets`` [N], in an internal frame of motrixsim."""
        return self._model.scene.get_sensor_value(f"{NET}{sensor}", self.data)

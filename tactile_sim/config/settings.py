"""Validated settings as frozen dataclasses, with one field per key: default, bounds and description."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from tactile_sim.common.errors import ConfigError, suggest
from tactile_sim.common.schema import (
    DURATION,
    SEED,
    SLOWEST,
    SPACING,
    Check,
    Choice,
    Flag,
    Frame,
    Integer,
    Integers,
    Key,
    Number,
    Numbers,
    Scalar,
    Text,
    Texts,
    declared,
    parameter,
    plain_keys,
    records,
    table,
)
from tactile_sim.engines.registry import ENGINES, engine_names, engine_plugin, has_engine
from tactile_sim.scenes.contact_sensors import CONTACT_SENSOR
from tactile_sim.signal_chain.stage import ENABLED
from tactile_sim.signal_chain.stages import PARAMETERS
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS
from tactile_sim.skin.materials import (
    BONDS,
    POISSON_RATIO,
    POISSON_RATIO_RANGE,
    SENSOR_DEPTH_RANGE,
    STIFFNESS,
    STIFFNESS_RANGE,
    THICKNESS,
    THICKNESS_RANGE,
)
from tactile_sim.skin.state import ContactThresholds

TOUCH_FUNCTION = Choice(TOUCH_FUNCTIONS, later=("torque_vector", "torque_vector_global"))
RESPONSE_FUNCTION = Choice(RESPONSE_FUNCTIONS)
SAMPLING = Choice(("last", "mean", "peak"))


class EngineName(Text):
    """Check that a string is the name of an engine in the registry."""

    words = tuple(ENGINES)
    """Names of the engines in this package."""

    def __call__(self, value: Any) -> str:
        """Return ``value`` unchanged if an engine with this name exists."""
        name = super().__call__(value)
        if not has_engine(name):
            raise ValueError(f"unknown engine {name!r}{suggest(name, engine_names())}")
        return name

    def __str__(self) -> str:
        return f"one of {', '.join(engine_names())}"


def engine_keys(engine: str) -> dict[str, Key]:
    """Return the plain keys that an engine adds, keyed by full name, such as ``trifinger.type``."""
    settings = engine_plugin(engine).Settings
    return plain_keys(settings, f"{engine}.") if settings else {}


SHAPES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3}
"""Number of sizes that each shape of an object requires."""

_POSITION = Numbers(Number(most=1e6, unit="m", usual=(0.0, 1e3)), (3,))
_ORIENTATION = Numbers(lengths=(3, 4))
_ORIENTATION_DOC = "roll, pitch and yaw [rad], or a quaternion x, y, z, w"


@dataclass(frozen=True)
class SceneOptions:
    """``scene_options.*``: changes to the robots of a scene."""

    floating_base: bool = parameter(
        Flag(), "whether the root link of a URDF moves freely; otherwise it is fixed", False
    )
    self_collision: str = parameter(
        Choice(("auto", "all", "apart", "off")),
        "which links of a robot collide with one another: all, those that do not overlap in the initial "
        "pose, or none; `auto` is `apart` for a URDF, and `all` for an MJCF, which can exclude pairs itself",
        "auto",
    )
    balance_inertia: bool = parameter(
        Flag(), "whether MuJoCo also balances the inertias of an MJCF; those of a URDF are repaired", False
    )


@dataclass(frozen=True)
class RobotSettings:
    """``robots.NAME``: a robot of the scene."""

    file: str = parameter(
        Text(filled=True), "URDF, xacro or MJCF file: path, `package://` or `file://` address", None
    )
    position: tuple[float, ...] = parameter(_POSITION, "position of the robot's root [m]", (0.0, 0.0, 0.0))
    orientation: tuple[float, ...] = parameter(_ORIENTATION, _ORIENTATION_DOC, (0.0, 0.0, 0.0))
    prefix: str = parameter(Text(), "prefix of the names of all elements of the robot", "")
    floating_base: bool | None = parameter(Flag(), "as `scene_options.floating_base`, for this robot", None)

    @staticmethod
    def fault(entry: Mapping[str, Any]) -> str | None:
        """Return an error message if a robot's keys are incomplete or inconsistent, or else None."""
        return (
            _fault_of_quaternion(entry) if "file" in entry else "must have a file, such as file: panda.urdf"
        )


@dataclass(frozen=True)
class ObjectSettings:
    """``objects.NAME``: an object of the scene."""

    shape: str | None = parameter(Choice(tuple(SHAPES)), "shape of the object; omitted with `file`", None)
    size: tuple[float, ...] | None = parameter(
        Numbers(Number(above=0, most=1e4, unit="m", usual=(1e-4, 100.0)), (1, 2, 3)),
        "full extents [m]: box and ellipsoid x, y, z; sphere radius; cylinder and capsule radius and length",
        None,
    )
    file: str | None = parameter(
        Text(filled=True),
        "mesh of the object: path, `package://` or `file://` address; omitted with `shape`",
        None,
    )
    scale: float = parameter(Number(above=0, most=1e6, usual=(1e-4, 1e3)), "scale of the mesh", 1.0)
    decompose: bool = parameter(
        Flag(),
        "whether the mesh is decomposed into convex parts for collisions (requires the package coacd); "
        "otherwise its convex hull collides",
        False,
    )
    mass: float | None = parameter(
        Number(above=0, unit="kg", usual=(1e-6, 1e4)),
        "mass [kg]; by default that of the same volume of water",
        None,
    )
    fixed: bool = parameter(Flag(), "whether the object is fixed in the world", False)
    friction: float = parameter(Number(least=0, usual=(1e-3, 10.0)), "coefficient of sliding friction", 1.0)
    position: tuple[float, ...] = parameter(_POSITION, "position of the object's center [m]", (0.0, 0.0, 0.0))
    orientation: tuple[float, ...] = parameter(_ORIENTATION, _ORIENTATION_DOC, (0.0, 0.0, 0.0))

    @staticmethod
    def fault(entry: Mapping[str, Any]) -> str | None:
        """Return an error message if an object's keys are incomplete or inconsistent, or else None."""
        if ("shape" in entry) == ("file" in entry):
            return "must have either a shape, such as shape: box, or a file"
        if "file" in entry and "size" in entry:
            return "size: belongs to a shape; remove it, or set scale"
        for name in ("scale", "decompose"):
            if "shape" in entry and name in entry:
                return f"{name}: belongs to a file; remove it"
        if "shape" in entry:
            wanted, sizes = SHAPES[entry["shape"]], entry.get("size", ())
            if len(sizes) != wanted:
                return f"size: must have {wanted} numbers [m] for a {entry['shape']}, got {len(sizes)}"
        return _fault_of_quaternion(entry)


def _fault_of_quaternion(entry: Mapping[str, Any]) -> str | None:
    orientation = entry.get("orientation", ())
    if len(orientation) == 4 and not any(orientation):
        return "orientation: a quaternion must not be zero; no rotation is [0, 0, 0, 1]"
    return None


@dataclass(frozen=True)
class PadSettings:
    """Settings of one pad; None means that a key was not specified.

    The taxels come from at most one of `layout`, a grid (`rows`, `columns`, `pitch`) and `sites`, or else
    from `spacing`. The keys of a preset must already be merged into these fields.
    """

    body: str | None = parameter(Text(filled=True), "name of the body that carries the pad", None)
    preset: str | None = parameter(
        Text(filled=True),
        "name of a shipped sensor, see `tactile_sim presets`; other keys override those of the preset",
        None,
    )
    layout: str | None = parameter(
        Text(filled=True),
        "file with the taxels: .csv, .npz or .yaml; a path relative to the configuration file or absolute, "
        "`package://` or `file://`",
        None,
    )
    rows: int | None = parameter(
        Integer(1, 1000), "number of rows, along the pad's y axis", None, name="grid.rows"
    )
    columns: int | None = parameter(
        Integer(1, 1000), "number of columns, along the pad's x axis", None, name="grid.columns"
    )
    pitch: tuple[float, ...] | None = parameter(
        Numbers(SPACING, (2,)),
        "distance between columns along x and between rows along y [m]",
        None,
        name="grid.pitch",
    )
    sites: tuple[str, ...] | None = parameter(
        Texts(),
        "sites of the scene, names or shell patterns; z is the outward normal, x and y are the tangents",
        None,
    )
    spacing: float | None = parameter(
        SPACING,
        "distance between evenly spaced taxels [m]; with another source of taxels: edge of a taxel's cell",
        None,
    )
    geoms: tuple[str, ...] | None = parameter(
        Texts(), "with spacing: geoms to cover, names or shell patterns; default: all that collide", None
    )
    flex: str | None = parameter(
        Text(filled=True),
        "with spacing: name of the flex to cover; the pad's body is the one that carries the flex",
        None,
    )
    normal: tuple[float, ...] | None = parameter(
        Numbers(lengths=(3,)),
        "with spacing: direction that the covered part of the surface faces, in the body's frame",
        None,
        name="region.normal",
    )
    within: float | None = parameter(
        Number(above=0, most=180.0, unit="degrees"),
        "maximum angle between the normal of a taxel and `region.normal` [degrees]; default 90",
        None,
        name="region.within",
    )
    box: tuple[float, ...] | None = parameter(
        Numbers(lengths=(6,)),
        "with spacing: opposite corners x y z x y z of a box around the covered part, body frame [m]",
        None,
        name="region.box",
    )
    position: tuple[float, ...] | None = parameter(
        Numbers(lengths=(3,)),
        "origin of the pad on its body [m], for presets, layouts and grids; default 0 0 0",
        None,
    )
    orientation: tuple[float, ...] | None = parameter(
        Numbers(lengths=(4,)),
        "orientation of the pad on its body, quaternion x y z w; default: that of the body",
        None,
    )
    outward: tuple[float, ...] | None = parameter(
        Numbers(lengths=(3,)),
        "instead of `orientation`: outward normal of the pad, body frame; its x axis is then the tangent "
        "nearest to the body's x axis, or to its y axis if the normal is within 18 degrees of x",
        None,
        name="normal",
    )
    turn: float | None = parameter(
        Number(least=-360.0, most=360.0, unit="degrees"),
        "with `normal` or `surface`: angle about the normal, counterclockwise seen from outside [degrees]",
        None,
    )
    surface: bool | None = parameter(
        Flag(),
        "move the pad's origin to the nearest point of the surface, and its taxels along the normal to the "
        "surface, whose normals they take; without `normal` and `orientation`, the surface at the origin "
        "determines the pad's normal",
        None,
    )
    mirror: bool | None = parameter(
        Flag(), "mirror the taxels along the pad's x axis, as on the other hand; ids and axes stay", None
    )
    rate: float | None = parameter(
        Number(least=SLOWEST, unit="Hz"),
        "rate of the topics of the pad [Hz of simulation time], at most one message per step; default "
        "`rates.tactile`",
        None,
    )
    touch_function: str | None = parameter(
        TOUCH_FUNCTION, "quantity that taxels measure; default `skin.touch_function`", None
    )
    response_function: str | None = parameter(
        RESPONSE_FUNCTION,
        "distribution of a load over taxels, the same for all pads of a body; default "
        "`skin.response_function`",
        None,
    )
    sampling: str | None = parameter(
        SAMPLING, "value published for the interval between two messages; default `skin.sampling`", None
    )
    outside: str | None = parameter(
        Choice(("nearest", "ignore")),
        "what happens to a load farther than one spacing from any taxel, or on the back of the pad: the "
        "nearest taxel receives it (`nearest`), or it is left out (`ignore`); default nearest",
        None,
    )

    @classmethod
    def key(cls, name: str) -> str:
        """Return the key in the configuration, such as ``grid.rows``, of a field."""
        return cls.__dataclass_fields__[name].metadata["name"] or name

    def __post_init__(self) -> None:
        """Check that the specified keys do not contradict each other."""
        grid = (self.rows, self.columns, self.pitch)
        if any(value is not None for value in grid) and None in grid:
            raise ValueError("grid: must have rows, columns and pitch")
        given = [name for name in ("layout", "rows", "sites") if getattr(self, name) is not None]
        if len(given) > 1:
            first, second = ("grid" if name == "rows" else name for name in given[:2])
            raise ValueError(f"{second}: the pad has a {first} already; remove one")
        if not given and self.spacing is None:
            raise ValueError("has no taxels; give one of preset, layout, grid, sites or spacing")
        for name in ("geoms", "flex", "normal", "within", "box"):
            if given and getattr(self, name) is not None:
                raise ValueError(
                    f"{self.key(name)}: requires evenly spaced taxels; remove it or the {given[0]}"
                )
        for name in ("body", "geoms"):
            if self.flex is not None and getattr(self, name) is not None:
                raise ValueError(f"{name}: must not be given with a flex; remove it")
        if self.within is not None and self.normal is None:
            raise ValueError("region.within: requires region.normal")
        for name in ("position", "orientation", "outward", "turn", "surface", "mirror"):
            if getattr(self, name) is not None and not (self.layout or self.rows):
                raise ValueError(f"{self.key(name)}: requires a preset, layout or grid; remove it")
        if self.outward is not None and self.orientation is not None:
            raise ValueError("normal: must not be given with orientation; remove one")
        if self.turn is not None and (self.orientation or not (self.outward or self.surface)):
            raise ValueError("turn: requires normal or surface, without orientation")
        up = [0.0, 0.0, 1.0]
        for name, example in (("normal", up), ("outward", up), ("orientation", [0.0, 0.0, 0.0, 1.0])):
            value = getattr(self, name)
            if value is not None and np.linalg.norm(value) < 1e-6:
                raise ValueError(
                    f"{self.key(name)}: must not be 0, got {list(value)}; write it as in {example}"
                )


@dataclass(frozen=True)
class FeelerSettings:
    """Settings of the feelers on one body, whose positions are set by an image or are evenly spaced."""

    image: str | None = parameter(
        Text(filled=True),
        "image on the UV map of the body: white pixels are feelers of full length, gray ones are shorter, "
        "black pixels have none; a path relative to the configuration file or absolute, `package://` or "
        '`file://`; if several geoms have a map, one image for each: `"skin_{geom}.png"`, quoted',
        None,
    )
    spacing: float | None = parameter(
        SPACING, "without an image: distance between neighboring feelers [m]", None
    )
    length: float = parameter(
        Number(above=0, most=1e6, unit="m", usual=(1e-3, 100.0)), "length of the longest feelers [m]", 0.1
    )
    white_only: bool | None = parameter(
        Flag(),
        "whether only white pixels of the image are feelers; by default true if the image has colors, false "
        "if it is gray",
        None,
    )
    tolerance: float = parameter(
        Number(least=0, most=1),
        "depth inside the body at which feelers begin, as a fraction of their length",
        0.2,
    )
    children: bool = parameter(
        Flag(), "whether bodies below this one in the kinematic tree cover its feelers", True
    )


@dataclass(frozen=True)
class SkinSettings:
    """``skin.*``: taxel positions, and how contacts are converted to readings."""

    kind: str = parameter(
        Choice(("mesh", "geom")),
        "one skin over all geoms of a body (mesh), or a separate skin on each geom (geom)",
        "mesh",
    )
    placement: str = parameter(
        Choice(("even", "mimo")),
        "taxels evenly spaced on the surface, or at the positions of MIMo's touch library",
        "even",
    )
    touch_function: str = parameter(TOUCH_FUNCTION, "quantity that taxels measure", "force_vector", live=True)
    response_function: str = parameter(
        RESPONSE_FUNCTION, "distribution of a load over the taxels near it", "elastic_foundation", live=True
    )
    distance: str = parameter(
        Choice(("euclidean", "surface")),
        "distance between taxel and load: straight, or along the surface",
        "euclidean",
    )
    stiffness: float | dict[str, float] = table(
        STIFFNESS_RANGE,
        "stiffness of the skin, 1 to 1e15 [Pa]: plane-strain modulus E / (1 - nu²) for `hertz`, of the layer "
        "for `elastic_foundation` and `elastic_layer`",
        STIFFNESS,
    )
    thickness: float | dict[str, float] = table(
        THICKNESS_RANGE,
        "thickness of the elastic layer, 1e-6 to 1 [m], for `elastic_foundation` and `elastic_layer`",
        THICKNESS,
    )
    poisson_ratio: float | dict[str, float] = table(
        POISSON_RATIO_RANGE,
        "Poisson's ratio of the elastic layer, 0 to 0.5, for `elastic_layer`",
        POISSON_RATIO,
    )
    sensor_depth: float | dict[str, float] = table(
        SENSOR_DEPTH_RANGE,
        "depth of the taxels below the surface of the elastic layer, 0 to `skin.thickness` [m], for "
        "`elastic_layer`",
        0.0,
    )
    core: str = parameter(
        Choice(tuple(BONDS)), "whether the elastic layer adheres to the body, for `elastic_layer`", "bonded"
    )
    sampling: str = parameter(SAMPLING, "value published for the interval between two messages", "last")
    scales: dict[str, float | None] = table(SPACING)
    """Spacing of the taxels [m] by body name or shell pattern; None excludes bodies."""
    pads: dict[str, dict[str, Any]] = records(PadSettings)
    """Pads: for each name, the keys of `tactile_sim.config.settings.PadSettings`."""
    sensor: dict[str, dict[str, dict[str, Any]]] = records(PARAMETERS)
    """Parameters of the signal chain by pad name or shell pattern, stage name and parameter name."""
    state: dict[str, dict[str, float]] = records(ContactThresholds)
    """Thresholds of pad states: for each pad name or shell pattern, the fields of `ContactThresholds`."""


@dataclass(frozen=True)
class GripperSettings:
    """``grippers.NAME``: a gripper. Names and defaults are as in ros2_control's gripper controllers."""

    joints: tuple[str, ...] = parameter(
        Texts(), "joints of the gripper, which all move to the position of a goal", ()
    )
    goal_tolerance: float = parameter(
        Number(least=0, unit="m or rad", usual=(1e-6, 1.0)),
        "largest distance of each joint from the goal at which the goal counts as reached [m, rad]",
        0.01,
    )
    max_effort: float = parameter(
        Number(least=0, unit="N or N m", usual=(1e-3, 1e4)),
        "maximum effort on each joint for goals that do not specify one [N, N m]; 0: the joint's own limit",
        0.0,
    )
    stall_velocity_threshold: float = parameter(
        Number(least=0, unit="m/s or rad/s", usual=(1e-6, 1.0)),
        "velocity up to which a joint counts as not moving [m/s, rad/s]",
        0.001,
    )
    stall_timeout: float = parameter(
        DURATION, "time without motion after which the gripper counts as stalled [s]", 1.0
    )
    allow_stalling: bool = parameter(
        Flag(), "whether a goal succeeds if the gripper stalls, as in a grasp; otherwise it is aborted", False
    )

    @staticmethod
    def fault(entry: Mapping[str, Any]) -> str | None:
        """Return an error message if a gripper has no joints, or else None."""
        return None if entry.get("joints") else "must have joints, such as joints: [left, right]"


def check_address(value: Any) -> str:
    """Check a websocket address and return it unchanged."""
    address = Text(filled=True)(value)
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("ws", "wss") and parts.hostname and parts.port != 0
    except ValueError:  # the port is not a number up to 65535
        valid = False
    if not valid:
        raise ValueError(f"must be an address such as ws://127.0.0.1:5000, got {address!r}")
    return address


def check_topic(value: Any) -> str:
    """Check an absolute, relative or private ROS topic name and return it unchanged."""
    name = Text(filled=True)(value)
    if not re.fullmatch("(~?/)?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*", name):
        raise ValueError(f"must be a topic such as /hub_0/sensor_0, got {name!r}")
    return name


DEFAULT_SIZE, LARGEST_SIZE = (640, 480), 4096


_OF_BODY = ("position", "orientation", "fovy")
"""Keys that require the key ``body``."""


@dataclass(frozen=True)
class CameraSettings:
    """``cameras.NAME``: a camera whose images are published."""

    camera: str | None = parameter(
        Text(filled=True),
        "camera of the scene, or of the TriFinger platform: `camera60`, `camera180`, `camera300`",
        None,
    )
    body: str | None = parameter(Text(filled=True), "without `camera`: body that carries the camera", None)
    position: tuple[float, ...] = parameter(
        Numbers(Number(most=1e6, unit="m"), (3,)), "position of the camera on its body [m]", (0.0, 0.0, 0.0)
    )
    orientation: tuple[float, ...] = parameter(
        Numbers(lengths=(4,)),
        "orientation of the optical frame (x right, y down, z forward) on the body, quaternion x y z w",
        (0.0, 0.0, 0.0, 1.0),
    )
    fovy: float = parameter(Number(above=0, most=179), "with `body`: vertical field of view [degrees]", 45.0)
    size: tuple[int, ...] | None = parameter(
        Integers(1),
        "width and height of the images [pixels]; default: resolution of the scene's camera, or 640 x 480",
        None,
    )
    rate: float | None = parameter(
        Number(above=0, unit="Hz", smallest=SLOWEST),
        "rate of the images [Hz of simulation time], at most one per step; default `rates.images`",
        None,
    )
    depth: bool = parameter(Flag(), "whether depth images are published, too", False)

    @staticmethod
    def fault(entry: Mapping[str, Any]) -> str | None:
        """Return an error message if a camera's keys are incomplete or inconsistent, or else None."""
        if ("camera" in entry) == ("body" in entry):
            return (
                "must have either a camera of the scene, such as camera: front, or a body, such as body: palm"
            )
        if extra := next((key for key in _OF_BODY if key in entry and "camera" in entry), None):
            return f"{extra}: belongs to a body; the camera of the scene has its own"
        if not any(entry.get("orientation", (1,))):
            return "orientation: a quaternion must not be zero; no rotation is [0, 0, 0, 1]"
        size = entry.get("size", DEFAULT_SIZE)
        if len(size) != 2 or max(size) > LARGEST_SIZE:
            return f"size: must be a width and a height of at most {LARGEST_SIZE} pixels, got {list(size)}"
        return None


@dataclass(frozen=True)
class HardwarePad:
    """Source of one pad's readings, and their conversion."""

    sensor: int | None = parameter(Integer(0, 255), "driver xela: number of the sensor in the stream", None)
    topic: str | None = parameter(
        check_topic, "drivers papillarray and array: topic of the sensor's messages", None
    )
    raw: bool = parameter(
        Flag(), "driver xela: whether raw values are read instead of calibrated forces", False
    )
    baseline: float = parameter(
        Number(), "value without load [units of the message]; it is subtracted from each value", 0.0
    )
    scale: float = parameter(Number(), "force per unit of the message [N]", 1.0)
    axes: str = parameter(
        Text(filled=True),
        "axes of the sensor that point along the first tangent, the second tangent and the inward normal of "
        "the taxels, with signs, such as `-x y z`",
        "x y z",
    )
    order: tuple[int, ...] = parameter(
        Integers(0),
        "position in the message of each taxel of the layout; default: the order of the layout",
        (),
    )


@dataclass(frozen=True)
class HardwareSettings:
    """``hardware.*``: source of the readings of ``tactile_sim hardware``; ignored by the simulation."""

    driver: str = parameter(
        Choice(("xela", "papillarray", "array")),
        "source of the messages that `tactile_sim hardware` reads: the websocket of XELA's server, topics "
        "with Contactile's `sensor_interfaces/SensorState`, or topics with `std_msgs/Float32MultiArray`",
        "array",
    )
    address: str = parameter(check_address, "address of XELA's server", "ws://127.0.0.1:5000")
    timeout: float = parameter(
        Number(above=0, unit="s"), "time without a message after which a pad is reported as lost [s]", 0.5
    )
    pads: dict[str, dict[str, Any]] = records(HardwarePad)
    """Keys of `HardwarePad` by the name of a pad."""


Sensor = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""The table ``skin.sensor``: pad name or pattern -> stage -> parameter -> value."""
_TABLE = "skin.sensor"


def switch_places(sensor: Sensor) -> Iterator[tuple[str, str, str]]:
    """Yield the full key, the entry (pad name or pattern) and the stage of each switch."""
    for entry, stages in sensor.items():
        for stage in stages:
            yield f"{_TABLE}.{entry}.{stage}.{ENABLED}", entry, stage


def switches(sensor: Sensor) -> dict[str, bool]:
    """Return the value of each switch, keyed by full key. Stages are on by default."""
    return {key: sensor[entry][stage].get(ENABLED, True) for key, entry, stage in switch_places(sensor)}


def switch_keys(sensor: Sensor) -> dict[str, Key]:
    """Return the declaration of each switch as a live key, keyed by full name."""
    return {
        key: Key(key, True, Flag(), f"whether the stage {stage} changes readings", live=True)
        for key, _, stage in switch_places(sensor)
    }


def with_switches(sensor: Sensor, values: Mapping[str, bool]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return a copy of the table with new values for some switches, which are keyed by full key."""
    copy = {entry: {stage: dict(own) for stage, own in stages.items()} for entry, stages in sensor.items()}
    for key, entry, stage in switch_places(sensor):
        if key in values:
            copy[entry][stage][ENABLED] = values[key]
    return copy


def switches_of_pads(sensor: Sensor, entries: Mapping[str, str]) -> dict[str, dict[str, bool]]:
    """Return the values of the switches by pad and stage, as `SignalChain.switch` expects them."""
    return {
        pad: {stage: own.get(ENABLED, True) for stage, own in sensor[entry].items()}
        for pad, entry in entries.items()
    }


_RATE = Number(least=0, unit="Hz", smallest=SLOWEST)


def _rate(default: float, what: str) -> Any:
    return parameter(_RATE, f"{what} [Hz of simulation time]; 0: off", default, live=True)


@dataclass(frozen=True)
class Rates:
    """``rates.*``: publishing rate of each kind of message."""

    tactile: float = _rate(100.0, "tactile/*")
    contacts: float = _rate(100.0, "contacts")
    joint_states: float = _rate(100.0, "joint_states")
    clock: float = _rate(
        100.0, "/clock; also sent before each message with a later stamp, so that none is ahead of it"
    )
    tf: float = _rate(
        100.0, "all moving bodies in /tf; faster messages are preceded by those that carry their frames"
    )
    markers: float = _rate(30.0, "markers")
    points: float = _rate(30.0, "tactile/points")
    images: float = _rate(15.0, "tactile/*/image, and cameras without a rate")
    feelers: float = _rate(100.0, "tactile/*/feelers")
    sensors: float = _rate(100.0, "sensors/* and contact_sensors/*")
    diagnostics: float = _rate(1.0, "/diagnostics; while time is stopped, in wall time")


@dataclass(frozen=True)
class MarkerSettings:
    """``markers.*``: appearance of contacts in RViz."""

    force_scale: float = parameter(
        Number(above=0, unit="m/N", usual=(1e-6, 10.0)),
        "length of a force arrow [m/N]; shorter if it would leave the window",
        0.01,
        live=True,
    )
    contact_radius: float = parameter(
        Number(least=0, unit="m", usual=(1e-5, 0.5)),
        "radius of a contact point [m]; 0: 0.004, in small scenes 0.8 % of their extent",
        0.0,
        live=True,
    )
    taxel_scale: float = parameter(
        Number(least=0, usual=(1e-6, 1e4)),
        "a taxel's reading [N, m/s] at the end of the color scale of images and views; "
        "0: in images derived from the weights of the bodies, in views following the readings",
        0.0,
        live=True,
    )


@dataclass(frozen=True)
class WebSettings:
    """``web.*``: address of the view in the browser."""

    host: str = parameter(Text(filled=True), "address to listen on", "127.0.0.1")
    port: int = parameter(Integer(0, 65535), "port to listen on; 0: any free port", 8080)
    token: str = parameter(
        Text(), "token that browsers must send; empty: none; `random`: a generated one", ""
    )
    note: str = parameter(
        Text(), "text that the view shows until time advances, such as what it waits for", ""
    )
    repeat: float = parameter(
        DURATION,
        "time after which `tactile_sim view` resets the scene, until a user requests anything [s]; 0: never",
        0.0,
    )


@dataclass(frozen=True)
class MotionSettings:
    """``motion.*``: built-in motion, which moves the controls through the scene's keyframes in a loop."""

    keyframes: tuple[str, ...] = parameter(Texts(), "keyframes of the motion; none: no built-in motion", ())
    period: float = parameter(
        Number(above=0, unit="s", usual=(0.01, 3600.0)), "period of the motion [s]", 2.0
    )


@dataclass(frozen=True)
class Settings:
    """A validated configuration.

    Relative paths refer to the folder ``base``. ``source`` is the name of the file in error messages.
    """

    base: Path | None
    source: str
    scene: str = parameter(
        Text(filled=True),
        "MJCF, URDF or xacro: shipped name, path, package:// or file:// address; omitted with "
        "`engine: trifinger`, and where `robots`, `objects` or `ground` make the scene",
        None,
    )
    package_paths: tuple[str, ...] = parameter(
        Texts(),
        "folders that hold ROS packages, searched for `package://` before `AMENT_PREFIX_PATH` and "
        "`ROS_PACKAGE_PATH`; relative to this file",
        (),
    )
    strict_urdf: bool = parameter(
        Flag(), "whether a URDF with impossible masses or limits is rejected instead of repaired", False
    )
    scene_options: SceneOptions = field(default_factory=SceneOptions)
    xacro: dict[str, str] = table(Scalar())
    """Values of xacro arguments, keyed by argument name."""
    robots: dict[str, dict[str, Any]] = records(RobotSettings)
    """Robots to add to the scene: for each name, the keys of `RobotSettings`."""
    objects: dict[str, dict[str, Any]] = records(ObjectSettings)
    """Objects to add to the scene: for each name, the keys of `ObjectSettings`."""
    ground: bool = parameter(Flag(), "whether to add a floor at height 0, named `ground`", False)
    engine: str = parameter(EngineName(filled=True), "physics engine", "mujoco")
    real_time_factor: float = parameter(
        Number(least=0, usual=(1e-3, 1e3)),
        "simulation time per wall time; 0: as fast as possible",
        1.0,
        live=True,
    )
    lockstep: bool = parameter(
        Flag(), "time advances only with ~/step or with a command, one step each", False
    )
    seed: int = parameter(SEED, "seed of all random numbers", 0)
    frame_prefix: str = parameter(Frame(), "prefix of each body's name in TF", "")
    world_frame: str = parameter(Frame(filled=True), "TF frame of the world", "world")
    tf: str = parameter(
        Choice(("all", "objects", "off")),
        "bodies in TF: all, objects (with a free joint), or none (off)",
        "all",
    )
    start_paused: bool = parameter(Flag(), "wait for ~/pause or ~/step before the first step", False)
    contacts: str = parameter(
        Choice(("skin", "all")), "published contacts: those that touch a skin, or all", "skin"
    )
    command_timeout: float = parameter(
        DURATION, "time without a command after which controls are reset [s]; 0: never", 0.0
    )
    bridges: tuple[str, ...] = parameter(
        Texts(("tactile_msgs", "ros_gz_interfaces", "xela_server_ros2")),
        "packages in whose messages tactile data are also published, see [Bridges](bridges.md)",
        (),
    )
    skin: SkinSettings = field(default_factory=SkinSettings)
    hardware: HardwareSettings = field(default_factory=HardwareSettings)
    control: dict[str, dict[str, Any]] = records(
        {
            "mode": Choice(("position", "velocity", "effort", "free")),
            "kp": Number(least=0, unit="N m/rad or N/m", usual=(1e-5, 1e6)),
            "kd": Number(least=0, unit="N m s/rad or N s/m", usual=(1e-7, 1e5)),
            "limit": Number(above=0, unit="N m or N", usual=(1e-5, 1e5)),
        }
    )
    """Actuators to add by joint or shell pattern: ``mode``, ``kp`` [N m/rad, N/m], ``kd`` [N m s/rad, N s/m]
    and ``limit`` [N m, N]."""
    grippers: dict[str, dict[str, Any]] = records(GripperSettings)
    """Grippers: for each name, the keys of `tactile_sim.config.settings.GripperSettings`."""
    motion: MotionSettings = field(default_factory=MotionSettings)
    web: WebSettings = field(default_factory=WebSettings)
    markers: MarkerSettings = field(default_factory=MarkerSettings)
    rates: Rates = field(default_factory=Rates)
    feelers: dict[str, dict[str, Any]] = records(FeelerSettings)
    """Feelers: for each body name or shell pattern, the keys of `FeelerSettings`."""
    cameras: dict[str, dict[str, Any]] = records(CameraSettings)
    """Cameras whose images are published: for each name, the keys of `CameraSettings`."""
    contact_sensors: dict[str, dict[str, Any]] = records(CONTACT_SENSOR)
    """Contact sensors to add to the scene: for each name, the objects, ``data``, ``num`` and ``reduce``."""
    engine_settings: Any = None
    """Settings of the engine's plug-in, from the keys below the engine's name; None if it has none."""

    @property
    def title(self) -> str:
        """Short description of the scene: its file, or the names of its robots and objects."""
        return self.scene or ", ".join([*self.robots, *self.objects]) or "ground"

    @property
    def keys(self) -> dict[str, Key]:
        """Plain keys, keys of the engine and switches of the stages, keyed by full name."""
        return KEYS | engine_keys(self.engine) | switch_keys(self.skin.sensor)

    def replace(self, key: str, value: Any) -> Settings:
        """Return a copy of the settings with a new value for one live key."""
        if not isinstance(key, str):
            raise ConfigError(f"key: must be a full name such as 'rates.tactile', got {key!r}")
        keys = self.keys
        if key not in keys and key.startswith("skin.sensor.") and key.endswith(".enabled"):
            known = switches(self.skin.sensor)
            raise ConfigError(f"{key}: there is no such switch{suggest(key, known)}")
        in_table = key not in keys and any(f"{key}.".startswith(f"{table}.") for table in [*TABLES, *RECORDS])
        if key not in keys and not in_table:
            raise ConfigError(f"unknown key {key!r}{suggest(key, keys)}")
        if in_table or not keys[key].live:
            raise ConfigError(
                f"{key}: cannot be set while the simulation runs; set it in the file and start again"
            )
        try:
            checked = keys[key].check(value)
        except ValueError as error:
            raise ConfigError(f"{key}: {error}") from None
        if key in switches(self.skin.sensor):
            return self.with_sensor(with_switches(self.skin.sensor, {key: bool(checked)}))
        group, _, leaf = key.rpartition(".")
        change: dict[str, Any] = {leaf: checked}
        if group:
            change = {group: dataclasses.replace(getattr(self, group), **change)}
        return dataclasses.replace(self, **change)

    def with_sensor(self, sensor: dict[str, dict[str, dict[str, Any]]]) -> Settings:
        """Return a copy of the settings in which ``skin.sensor`` is replaced."""
        return dataclasses.replace(self, skin=dataclasses.replace(self.skin, sensor=sensor))

    def within(self, steps_per_second: float) -> Settings:
        """Return a copy of the settings with all rates limited to the number of physics steps per second."""
        rates = {name: min(rate, steps_per_second) for name, rate in vars(self.rates).items()}
        return dataclasses.replace(self, rates=Rates(**rates))

    def rates_above(self, steps_per_second: float) -> list[str]:
        """Return one line for each configured rate above the number of physics steps per second."""
        return [
            f"rates.{name}: at most one message per step, {steps_per_second:g} Hz, is possible, got {rate:g};"
            " publishing every step"
            for name, rate in vars(self.rates).items()
            if rate > steps_per_second and rate != self.keys[f"rates.{name}"].default
        ]

    def parameters(self) -> dict[str, Any]:
        """Return the values of all plain keys and switches, keyed by full name like ROS parameters.

        Keys that have a table instead of a value are left out.
        """
        own = engine_keys(self.engine)
        engine = {name: getattr(self.engine_settings, name.partition(".")[2]) for name in own}
        plain = {name: operator.attrgetter(name)(self) for name in KEYS}
        plain = {name: value for name, value in plain.items() if not isinstance(value, dict)}
        return plain | engine | switches(self.skin.sensor)


KEYS: dict[str, Key] = plain_keys(Settings)
"""The plain keys by full name, such as ``rates.tactile``."""
TABLES: dict[str, Check] = {
    name: entry.metadata["table"] for name, entry in declared(Settings) if "table" in entry.metadata
}
"""The check of the values in each table with user-defined keys, such as ``skin.scales``, by full name."""
RECORDS: dict[str, Mapping[str, Check]] = {
    name: entry.metadata["record"] for name, entry in declared(Settings) if "record" in entry.metadata
}
"""For each table of groups, such as ``control``: the check for each key of a group, by key name."""
FAULTS: dict[str, Callable[[Mapping[str, Any]], str | None]] = {
    "robots": RobotSettings.fault,
    "objects": ObjectSettings.fault,
    "grippers": GripperSettings.fault,
    "cameras": CameraSettings.fault,
}
"""For each table, a function that returns why a group is incomplete or inconsistent, or None."""

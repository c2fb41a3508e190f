"""Validated settings as frozen dataclasses, with one field per key: default, bounds and description.

The fields are the schema. ``KEYS``, ``TABLES`` and ``RECORDS`` at the end are derived from them.
"""

from __future__ import annotations

import dataclasses
import operator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tactile_sim.config.cameras import CAMERA
from tactile_sim.config.engine_keys import EngineName, engine_keys
from tactile_sim.config.feelers import FEELER
from tactile_sim.config.grippers import GRIPPER
from tactile_sim.config.hardware import HardwareSettings
from tactile_sim.config.keys import Key, fields, plain_keys, records, table
from tactile_sim.config.keys import key as _key
from tactile_sim.config.scene_keys import OBJECT, ROBOT, SceneOptions
from tactile_sim.config.skin_settings import SkinSettings
from tactile_sim.config.switches import switch_keys, switches, with_switches
from tactile_sim.errors import ConfigError, suggest
from tactile_sim.scenes.sensor_schema import CONTACT_SENSOR
from tactile_sim.schema import (
    SEED,
    SLOWEST,
    Check,
    Choice,
    Flag,
    Frame,
    Integer,
    Number,
    Scalar,
    Text,
    Texts,
)  # fmt: skip

_RATE = Number(least=0, unit="Hz", smallest=SLOWEST)


def _rate(default: float, what: str) -> Any:
    return _key(default, _RATE, f"{what} [Hz of simulation time]; 0: off", live=True)


@dataclass(frozen=True)
class Rates:
    """``rates.*``: publishing rate of each kind of message."""

    tactile: float = _rate(100.0, "tactile/*")
    contacts: float = _rate(100.0, "contacts")
    joint_states: float = _rate(100.0, "joint_states")
    clock: float = _rate(100.0, "/clock")
    tf: float = _rate(100.0, "/tf")
    markers: float = _rate(30.0, "markers")
    points: float = _rate(30.0, "tactile/points")
    images: float = _rate(15.0, "tactile/*/image, and cameras without a rate")
    feelers: float = _rate(100.0, "tactile/*/feelers")
    sensors: float = _rate(100.0, "sensors/* and contact_sensors/*")
    diagnostics: float = _rate(1.0, "/diagnostics; while time is stopped, in wall time")


@dataclass(frozen=True)
class MarkerSettings:
    """``markers.*``: appearance of contacts in RViz."""

    force_scale: float = _key(
        0.01,
        Number(above=0, unit="m/N"),
        "length of a force arrow [m/N]; shorter if it would leave the window",
        live=True,
    )
    contact_radius: float = _key(
        0.0,
        Number(least=0, unit="m"),
        "radius of a contact point [m]; 0: 0.004, in small scenes 0.8 % of their extent",
        live=True,
    )
    taxel_scale: float = _key(
        0.0,
        Number(least=0),
        "a taxel's reading [N, m/s] at the end of the colour scale of images and views; "
        "0: in images derived from the weights of the bodies, in views following the readings",
        live=True,
    )


@dataclass(frozen=True)
class WebSettings:
    """``web.*``: address of the view in the browser."""

    host: str = _key("127.0.0.1", Text(filled=True), "address to listen on")
    port: int = _key(8080, Integer(0, 65535), "port to listen on; 0: any free port")
    token: str = _key("", Text(), "token that browsers must send; empty: none; `random`: a generated one")
    note: str = _key("", Text(), "text that the view shows until time advances, such as what it waits for")


@dataclass(frozen=True)
class MotionSettings:
    """``motion.*``: built-in motion, which moves the controls through the scene's keyframes in a loop."""

    keyframes: tuple[str, ...] = _key((), Texts(), "keyframes of the motion; none: no built-in motion")
    period: float = _key(2.0, Number(above=0, unit="s"), "period of the motion [s]")


@dataclass(frozen=True)
class Settings:
    """A validated configuration.

    Relative paths refer to the folder ``base``. ``source`` is the name of the file in error messages.
    """

    base: Path | None
    source: str
    scene: str = _key(
        None,
        Text(filled=True),
        "MJCF, URDF or xacro: shipped name, path, package:// or file:// address; omitted with "
        "`engine: trifinger`, and where `robots`, `objects` or `ground` make the scene",
    )
    package_paths: tuple[str, ...] = _key(
        (),
        Texts(),
        "folders that hold ROS packages, searched for `package://` before `AMENT_PREFIX_PATH` and "
        "`ROS_PACKAGE_PATH`; relative to this file",
    )
    strict_urdf: bool = _key(
        False, Flag(), "whether a URDF with impossible masses or limits is rejected instead of repaired"
    )
    scene_options: SceneOptions = field(default_factory=SceneOptions)
    xacro: dict[str, str] = table(Scalar())
    """Values of xacro arguments, keyed by argument name."""
    robots: dict[str, dict[str, Any]] = records(**ROBOT)
    """Robots to add to the scene: for each name, the keys of `RobotSettings`."""
    objects: dict[str, dict[str, Any]] = records(**OBJECT)
    """Objects to add to the scene: for each name, the keys of `ObjectSettings`."""
    ground: bool = _key(False, Flag(), "whether to add a floor at height 0, named `ground`")
    engine: str = _key("mujoco", EngineName(filled=True), "physics engine")
    real_time_factor: float = _key(
        1.0, Number(least=0), "simulation time per wall time; 0: as fast as possible", live=True
    )
    lockstep: bool = _key(False, Flag(), "time advances only with ~/step or with a command, one step each")
    seed: int = _key(0, SEED, "seed of all random numbers")
    frame_prefix: str = _key("", Frame(), "prefix of each body's name in TF")
    world_frame: str = _key("world", Frame(filled=True), "TF frame of the world")
    tf: str = _key(
        "all",
        Choice(("all", "objects", "off")),
        "bodies in TF: all, objects (with a free joint), or none (off)",
    )
    start_paused: bool = _key(False, Flag(), "wait for ~/pause or ~/step before the first step")
    contacts: str = _key(
        "skin", Choice(("skin", "all")), "published contacts: those that touch a skin, or all"
    )
    command_timeout: float = _key(
        0.0, Number(least=0, unit="s"), "time without a command after which controls are reset [s]; 0: never"
    )
    bridges: tuple[str, ...] = _key(
        (),
        Texts(("tactile_msgs", "ros_gz_interfaces", "xela_server_ros2")),
        "packages in whose messages tactile data are also published, see [Bridges](bridges.md)",
    )
    skin: SkinSettings = field(default_factory=SkinSettings)
    hardware: HardwareSettings = field(default_factory=HardwareSettings)
    control: dict[str, dict[str, Any]] = records(
        mode=Choice(("position", "velocity", "effort", "free")),
        kp=Number(least=0),
        kd=Number(least=0),
        limit=Number(above=0),
    )
    """Actuators to add by joint or shell pattern: ``mode``, ``kp`` [N m/rad, N/m], ``kd`` [N m s/rad, N s/m]
    and ``limit`` [N m, N]."""
    grippers: dict[str, dict[str, Any]] = records(**GRIPPER)
    """Grippers: for each name, the keys of `tactile_sim.config.grippers.GripperSettings`."""
    motion: MotionSettings = field(default_factory=MotionSettings)
    web: WebSettings = field(default_factory=WebSettings)
    markers: MarkerSettings = field(default_factory=MarkerSettings)
    rates: Rates = field(default_factory=Rates)
    feelers: dict[str, dict[str, Any]] = records(**FEELER)
    """Feelers: for each body name or shell pattern, the keys of `FeelerSettings`."""
    cameras: dict[str, dict[str, Any]] = records(**CAMERA)
    """Cameras whose images are published: for each name, the keys of `CameraSettings`."""
    contact_sensors: dict[str, dict[str, Any]] = records(**CONTACT_SENSOR)
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
        """Return a copy of the settings with a new value for one live key.

        Args:
            key: Full name, such as ``rates.tactile``.
            value: New value, which is checked like a value in a file.

        Raises:
            ConfigError: The key does not exist or cannot be set at run time, or the value is invalid.
        """
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
    name: entry.metadata["table"] for name, entry in fields(Settings) if "table" in entry.metadata
}
"""The check of the values in each table with user-defined keys, such as ``skin.scales``, by full name."""
RECORDS: dict[str, dict[str, Check]] = {
    name: entry.metadata["record"] for name, entry in fields(Settings) if "record" in entry.metadata
}
"""For each table of groups, such as ``control``: the check for each key of a group, by key name."""

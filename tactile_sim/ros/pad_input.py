"""Convert messages from real sensors to readings, wrenches and states of pads."""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tactile_sim.common.errors import ConfigError, TactileSimError
from tactile_sim.config.elements import resolve_hardware
from tactile_sim.config.settings import HardwarePad
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.pad_states import state_table
from tactile_sim.skin import TOUCH_FUNCTIONS, Loads, Pad, Skin, TouchFunction
from tactile_sim.skin.loads import LOAD
from tactile_sim.skin.state import ContactState, contact_quantities, measured_parts

__all__ = ["PadInput", "StreamError", "pad_inputs"]


_MEASURED = ("contact", "body", "patch", "point", "normal", "other", "other_patch", "other_body")
"""Fields of a load that are known in addition to its force. The remaining fields are NaN."""


class Quantity:
    """Computes the readings of one touch function for the taxels of a pad.

    The force on each taxel is treated as a single load at the taxel's position. Load fields that a sensor
    does not measure, such as the velocity or the force in the world frame, are NaN.
    """

    def __init__(self, touch: TouchFunction, skin: Skin, pad: Pad):
        taxels = slice(pad.start, pad.stop)
        self._touch = touch
        self._axes = skin.axes[taxels]
        self._factors = touch.factor(skin)[taxels, None] if touch.factor else 1.0
        self._loads = Loads.empty(len(self._axes))
        for field in LOAD.names or ():
            if field not in _MEASURED:
                self._loads.table[field] = np.nan
        self._loads.point[:], self._loads.normal[:] = skin.positions[taxels], -self._axes[:, 2]
        self._loads.body[:] = np.searchsorted(skin.body_ids, pad.body_id)

    def __call__(self, forces: np.ndarray) -> np.ndarray:
        """Compute the readings of the taxels from forces.

        - ``forces``: (n, 3) force on each taxel along its first tangent, second tangent and inward normal
          [N].

        Returns:
            (n, channels) readings. They are NaN if the touch function requires more than the forces.
        """
        self._loads.force[:] = np.einsum("nk,nki->ni", forces * [1.0, 1.0, -1.0], self._axes)
        values = np.array(self._touch.evaluate(self._loads), float)
        if self._touch.frame == "taxel":
            values = np.einsum("nki,ni->nk", self._axes, values) * [1.0, 1.0, -1.0]
        return values * self._factors

    @property
    def is_measured(self) -> bool:
        """True if the readings can be computed from the forces alone."""
        return bool(np.isfinite(self(np.ones((len(self._axes), 3)))).all())


LARGEST = 1e12
"""Largest accepted magnitude of a value in a message."""
TARE_SAMPLES = 50
"""Number of most recent messages that are averaged for a tare."""


class StreamError(TactileSimError):
    """A malformed message from a sensor."""


class PadInput:
    """Converts the sensor values for one pad.

    Attributes:
        taxels: Number of taxels.
        received: Number of valid messages.
        malformed: Number of malformed messages.
        last_error: Error in the last malformed message, or an empty string.
        forces: (n, 3) tared force on each taxel in the last valid message, along the taxel's first tangent,
            second tangent and inward normal [N].
    """

    def __init__(self, settings: HardwarePad, skin: Skin, index: int, touch_function: str):
        pad = skin.pads[index]
        self._quantity = Quantity(TOUCH_FUNCTIONS[touch_function], skin, pad)
        if not self._quantity.is_measured:
            others = (
                name for name, touch in TOUCH_FUNCTIONS.items() if Quantity(touch, skin, pad).is_measured
            )
            raise ConfigError(
                f"hardware.pads.{pad.name}: the touch function must be one of {', '.join(others)}, which"
                f" can be computed from the forces of a real sensor, got {touch_function!r}"
            )
        self.settings = settings
        self.taxels = pad.stop - pad.start
        axes = settings.axes.split()
        self._columns = ["xyz".index(axis[-1]) for axis in axes]
        self._signs = np.array([-1.0 if axis.startswith("-") else 1.0 for axis in axes])
        self._order = np.array(settings.order or range(self.taxels))
        self._recent: deque[np.ndarray] = deque(maxlen=TARE_SAMPLES)
        self._tare = np.zeros((self.taxels, 3))
        self.forces = np.zeros((self.taxels, 3))
        self.received = self.malformed = 0
        self.last_error = ""

    def readings(self, values: Any) -> np.ndarray:
        """Convert the values in one message to readings (n, channels) float32 of the pad's n taxels.

        This also counts the message, stores its forces for the next tare, and updates ``forces``.
        """
        try:
            array = np.asarray(values, float).ravel()
        except (TypeError, ValueError, OverflowError):
            raise StreamError("must have numbers only") from None
        if array.size not in (self.taxels, 3 * self.taxels):
            raise StreamError(
                f"must have {self.taxels} or {3 * self.taxels} values for {self.taxels} taxels,"
                f" got {array.size}"
            )
        if not (np.abs(array) <= LARGEST).all():
            raise StreamError(f"values must be finite and at most {LARGEST:g}")
        array = (array - self.settings.baseline) * self.settings.scale
        if array.size == self.taxels:
            forces = np.zeros((self.taxels, 3))
            forces[:, 2] = array[self._order] * self._signs[2]
        else:
            forces = array.reshape(-1, 3)[self._order][:, self._columns] * self._signs
        self._recent.append(forces)
        self.received += 1
        self.forces = forces - self._tare
        return self._quantity(self.forces).astype(np.float32)

    def reject(self, error: str) -> None:
        """Count a malformed message and store its error."""
        self.malformed += 1
        self.last_error = error

    def tare(self) -> bool:
        """Subtract the mean force of the latest `TARE_SAMPLES` messages from all later messages.

        Returns:
            False if there are no messages yet, in which case the tare does not change.
        """
        if self._recent:
            self._tare = np.mean(self._recent, axis=0)
        return bool(self._recent)


def pad_inputs(simulation: Simulation) -> dict[str, PadInput]:
    """Create the inputs, keyed by pad name, for all pads in ``hardware.pads``."""
    settings, skin = simulation.settings, simulation.skin
    names = [pad.name for pad in skin.pads]
    given = resolve_hardware(
        settings.hardware, {pad.name: pad.stop - pad.start for pad in skin.pads}, settings.source
    )
    functions = dict(zip(names, simulation.functions.quantities, strict=True))
    return {name: PadInput(pad, skin, names.index(name), functions[name]) for name, pad in given.items()}


class MeasuredPad:
    """Computes the wrench and state of one pad in the same way as the simulation.

    ``friction_utilization`` and ``slip_velocity`` are NaN, because the friction coefficient and the velocity
    of the other surface are not measured.

    Attributes:
        wrench: (6,) net force and torque on the body in the latest update, about the body's origin and in the
            body frame [N, N m].
        state: Tuple of flags (1, 2) and values (1, 19) of the latest update, see `PadStates.table`. It is
            None before the first update, and if ``skin.state`` does not include the pad.
    """

    def __init__(self, simulation: Simulation, index: int):
        skin, states = simulation.skin, simulation.pad_states
        part = slice(skin.pads[index].start, skin.pads[index].stop)
        self._axes, self._areas = skin.axes[part], skin.areas[part]
        self._positions = skin.surface_positions[part]
        row = states.pads.index(index) if index in states.pads else None
        self._thresholds = None if row is None else states.thresholds[row : row + 1]
        self._contact, self._start = ContactState.start(1), 0
        self.wrench = np.zeros(6)
        self.state: tuple[np.ndarray, np.ndarray] | None = None

    def update(self, forces: np.ndarray, stamp: int) -> None:
        """Compute ``wrench`` and ``state`` from new forces.

        - ``forces``: (n, 3) force on each taxel along its first tangent, second tangent and inward normal
          [N].
        """
        on_body = np.einsum("nk,nki->ni", forces * [1.0, 1.0, -1.0], self._axes)
        self.wrench = np.concatenate([on_body.sum(axis=0), np.cross(self._positions, on_body).sum(axis=0)])
        if self._thresholds is None:
            return
        self._start = self._start or stamp
        now = (stamp - self._start) * 1e-9
        self._contact = self._contact.advance(now, forces[:, 2].sum(keepdims=True), self._thresholds)
        parts = measured_parts(on_body, -self._axes[:, 2])
        felt = contact_quantities(parts, self._positions, self._areas, np.array([0, len(forces)]))
        unknown = {"friction_utilization": np.full(1, np.nan), "slip_velocity": np.full((1, 3), np.nan)}
        self.state = state_table(self._contact, felt._replace(**unknown), now)


PACKAGE = "sensor_interfaces"
"""ROS package that defines the messages."""


def pillar_forces(message: Any) -> np.ndarray:
    """Return the force on each pillar (n, 3) [N] from a ``SensorState`` message, ordered by pillar id.

    The components are along x, y and z of the sensor.
    """
    pillars = sorted(message.pillars, key=lambda pillar: pillar.id)
    return np.array([[pillar.fx, pillar.fy, pillar.fz] for pillar in pillars]).reshape(-1, 3)


RETRY = 0.5
"""Time between two attempts to connect [s]."""
_OPTIONS: dict[str, Any] = {"open_timeout": 2.0, "close_timeout": 0.5, "max_size": 1 << 20, "proxy": None}
"""Options for ``websockets.connect``: timeouts [s], largest message size [bytes] and no proxy."""


class SensorValues(NamedTuple):
    """Values from one sensor as flat lists: x, y and z of the first taxel, then of the second, and so on."""

    raw: list[int]
    calibrated: list[Any] | None
    """Calibrated forces on the taxels [N], or None if the server has no calibration for this sensor."""


def sensors_of(text: str | bytes) -> dict[int, dict[str, Any]]:
    """Return the entries in a message, keyed by sensor number. The greeting has no entries."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise StreamError("is not JSON") from None
    if not isinstance(content, dict) or "message" not in content:
        raise StreamError("must be a mapping with the key 'message'")
    return {int(key): entry for key, entry in content.items() if re.fullmatch("[0-9]{1,3}", key)}


def values_of(entry: Any) -> SensorValues:
    """Return the raw and calibrated values in one of the entries that `sensors_of` returns."""
    if not isinstance(entry, dict) or not isinstance(entry.get("data"), str):
        raise StreamError("'data' must be hexadecimal values, separated by commas")
    try:
        raw = [int(value, 16) for value in entry["data"].split(",")]
    except ValueError:
        raise StreamError("'data' must be hexadecimal values, separated by commas") from None
    if isinstance(taxels := entry.get("taxels"), int) and 3 * taxels != len(raw):
        raise StreamError(f"'data' must have 3 values for each of {taxels} taxels, got {len(raw)}")
    calibrated = entry.get("calibrated")
    if calibrated is not None and not isinstance(calibrated, list):
        raise StreamError("'calibrated' must be a list or null")
    return SensorValues(raw, calibrated or None)


class XelaClient:
    """Reads the server's stream in a separate thread and reconnects when the connection is lost."""

    def __init__(self, address: str, receive: Callable[[str | bytes], None], state: Callable[[str], None]):
        self._address, self._receive, self._state = address, receive, state
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Disconnect and end the thread."""
        self._stopped.set()
        self._thread.join(timeout=2.0)

    def _run(self) -> None:
        from websockets.sync.client import connect  # slow to import

        last: str | None = None

        def report(state: str) -> None:
            nonlocal last
            if state != last:
                last = state
                self._state(state)

        while not self._stopped.is_set():
            try:
                with connect(self._address, **_OPTIONS) as socket:
                    report("")
                    while not self._stopped.is_set():
                        try:
                            self._receive(socket.recv(timeout=0.2))
                        except TimeoutError:
                            continue
            except Exception as error:  # websockets raises even AssertionError if a peer sends garbage
                report(" ".join(str(error).split()) or type(error).__name__)
            self._stopped.wait(RETRY)

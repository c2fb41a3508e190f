"""Convert the values in a sensor message to the readings of a pad."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from tactile_sim.common.errors import ConfigError, TactileSimError
from tactile_sim.config.elements import resolve_hardware
from tactile_sim.config.settings import HardwarePad
from tactile_sim.hardware.quantity import Quantity
from tactile_sim.simulation import Simulation
from tactile_sim.skin import TOUCH_FUNCTIONS, Skin

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
        """Prepare the conversion for one pad.

        Args:
            settings: Hardware settings of the pad.
            skin: Skin that contains the pad.
            index: Index of the pad in ``skin.pads``.
            touch_function: Name of the touch function that computes the readings.

        Raises:
            ConfigError: The touch function cannot be computed from forces alone.
        """
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

        Args:
            values: Three numbers (along x, y and z of the sensor) or one number (along the inward normal,
                multiplied by the sign of the last axis in ``axes``) for each taxel, one taxel after another,
                as in the message. The array may have any shape.

        Raises:
            StreamError: A value is not a number with a magnitude of at most `LARGEST`, or the message has too
                many or too few values for the pad.
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
    """Create the inputs, keyed by pad name, for all pads in ``hardware.pads``.

    Args:
        simulation: Simulation whose skin contains the pads.

    Raises:
        ConfigError: ``hardware`` does not fit the skin, or the touch function of a pad cannot be computed
            from forces.
    """
    settings, skin = simulation.settings, simulation.skin
    names = [pad.name for pad in skin.pads]
    given = resolve_hardware(
        settings.hardware, {pad.name: pad.stop - pad.start for pad in skin.pads}, settings.source
    )
    functions = dict(zip(names, simulation.functions.quantities, strict=True))
    return {name: PadInput(pad, skin, names.index(name), functions[name]) for name, pad in given.items()}

"""Panel inputs for actuator controls."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from viser import GuiApi

from tactile_sim.view.content import ViewScene
from tactile_sim.view.controls import Controls
from tactile_sim.view.panel.number_field import NumberField
from tactile_sim.view.panel.user_input import on_user

MIN_STEPS = 50
"""Smallest number of steps on a slider."""
MAX_CONTROL = 1e6
"""Largest magnitude that users can enter for an actuator with unlimited control."""


class ActuatorInputs:
    """A slider for each actuator, or a number field if its control is unlimited.

    Only users move the sliders. The sliders do not follow controls that other sources set.
    """

    def __init__(self, gui: GuiApi, scene: ViewScene, controls: Controls, notify: Callable[[str], None]):
        """Add the inputs to the panel.

        Args:
            gui: viser's panel.
            scene: Constant content of the view, with the actuators and their control ranges.
            controls: Receives the values.
            notify: Shows the user why a value is rejected.
        """
        self._initialised = False
        self._ranges = [round_range(*limits) for limits in scene.control_ranges.tolist()]
        with gui.add_folder(f"Actuators ({len(scene.actuators)})", expand_by_default=False):
            self._setters = [
                _add_input(gui, name, *self._ranges[k], partial(controls.ask, "set_control", k), notify)
                for k, name in enumerate(scene.actuators)
            ]

    def initialise(self, values: np.ndarray) -> None:
        """Set the inputs to the controls (a,) in the first frame. Later calls do nothing."""
        if self._initialised or len(values) != len(self._setters):
            return
        self._initialised = True
        starts = np.clip(values, *np.array(self._ranges).T)
        for put, value in zip(self._setters, starts.tolist(), strict=True):
            put(value)


def round_range(lower: float, upper: float) -> tuple[float, float]:
    """Round limits inward to multiples of the slider's step, so that its labels fit."""
    if not _limited(lower, upper):
        return lower, upper
    scale = 1.0 / _step(lower, upper)
    return math.ceil(round(lower * scale, 6)) / scale, math.floor(round(upper * scale, 6)) / scale


def _limited(lower: float, upper: float) -> bool:
    return bool(np.isfinite([lower, upper]).all()) and lower < upper


def _step(lower: float, upper: float) -> float:
    """Return the step size of a slider, which is a power of ten."""
    return 10.0 ** -math.ceil(-math.log10((upper - lower) / MIN_STEPS))


def _add_input(
    gui: GuiApi,
    name: str,
    lower: float,
    upper: float,
    on_change: Callable[[float], None],
    notify: Callable[[str], None],
) -> Callable[[float], object]:
    """Add the input for one actuator and return a function that sets it from the program."""
    start = float(np.clip(0.0, lower, upper))
    if not _limited(lower, upper):
        low, high = max(lower, -MAX_CONTROL), min(upper, MAX_CONTROL)
        valid_range = f"from {low:g} to {high:g}"
        return NumberField(
            gui, name, start, lambda value: low <= value <= high, valid_range, notify, on_change
        ).show
    slider = gui.add_slider(name, lower, upper, _step(lower, upper), start)
    # The text field beside the slider also sends values outside the range.
    return on_user(slider, lambda value: on_change(float(np.clip(value, lower, upper))))

"""A slider for each actuator."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from viser import GuiApi

from tactile_sim.view.asked import on_user
from tactile_sim.view.controls import Controls
from tactile_sim.view.number_field import NumberField
from tactile_sim.view.world import World

STEPS = 50
"""At least so many from one end of a slider to the other."""
LARGEST = 1e6
"""Of a control without bounds."""


class Actuators:
    """The sliders move by the user's hand alone: what the simulation does with its actuators moves none."""

    def __init__(self, gui: GuiApi, world: World, controls: Controls, tell: Callable[[str], None]):
        """tell: whom to tell why a number is refused."""
        self._begun = False
        self._bounds = [short(*bounds) for bounds in world.control_ranges.tolist()]
        with gui.add_folder(f"Actuators ({len(world.actuators)})", expand_by_default=False):
            self._inputs = [
                _input(gui, name, *self._bounds[k], partial(controls.ask, "set_control", k), tell)
                for k, name in enumerate(world.actuators)
            ]

    def begin(self, values: np.ndarray) -> None:
        """Puts the sliders where the actuators are at first."""
        if self._begun or len(values) != len(self._inputs):
            return
        self._begun = True
        starts = np.clip(values, *np.array(self._bounds).T)
        for show, value in zip(self._inputs, starts.tolist(), strict=True):
            show(value)


def short(least: float, most: float) -> tuple[float, float]:
    """The bounds with as few decimals as a slider between them needs, so that there is room to read them."""
    if not (np.isfinite([least, most]).all() and least < most):
        return least, most
    scale = 1.0 / _step(least, most)
    low, high = math.ceil(round(least * scale, 6)), math.floor(round(most * scale, 6))
    return low / scale, high / scale


def _step(least: float, most: float) -> float:
    """A power of ten."""
    return 10.0 ** -math.ceil(-math.log10((most - least) / STEPS))


def _input(
    gui: GuiApi,
    name: str,
    least: float,
    most: float,
    act: Callable[[float], None],
    tell: Callable[[str], None],
) -> Callable[[float], None]:
    """A slider between two bounds; where one is missing, a number. Returns what sets it from here."""
    start = float(np.clip(0.0, least, most))
    if not (np.isfinite([least, most]).all() and least < most):
        low, high = max(least, -LARGEST), min(most, LARGEST)
        wanted = f"from {low:g} to {high:g}"
        return NumberField(gui, name, start, lambda value: low <= value <= high, wanted, tell, act).show
    slider = gui.add_slider(name, least, most, _step(least, most), start)
    # The field beside a slider tells what is typed on the way to a number within its bounds, too.
    return on_user(slider, lambda value: act(float(np.clip(value, least, most))))

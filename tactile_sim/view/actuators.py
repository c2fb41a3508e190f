"""A slider for each actuator."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from viser import GuiApi, GuiNumberHandle, GuiSliderHandle

from tactile_sim.view.asked import on_user, put
from tactile_sim.view.controls import Controls
from tactile_sim.view.world import World

STEPS = 50
"""At least so many from one end of a slider to the other."""


class Actuators:
    """The sliders move by the user's hand alone: what the simulation does with its actuators moves none."""

    def __init__(self, gui: GuiApi, world: World, controls: Controls):
        self._begun = False
        self._bounds = [short(*bounds) for bounds in world.control_ranges.tolist()]
        with gui.add_folder(f"Actuators ({len(world.actuators)})", expand_by_default=False):
            self._inputs = [_input(gui, name, *self._bounds[k]) for k, name in enumerate(world.actuators)]
        for k, handle in enumerate(self._inputs):
            on_user(handle, partial(controls.set_control, k))

    def begin(self, values: np.ndarray) -> None:
        """Puts the sliders where the actuators are at first."""
        if self._begun or len(values) != len(self._inputs):
            return
        self._begun = True
        starts = np.clip(values, *np.array(self._bounds).T)
        for handle, value in zip(self._inputs, starts.tolist(), strict=True):
            put(handle, value)


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


def _input(gui: GuiApi, name: str, least: float, most: float) -> GuiSliderHandle | GuiNumberHandle:
    """A slider between two bounds; where one is missing, a number."""
    start = float(np.clip(0.0, least, most))
    if np.isfinite([least, most]).all() and least < most:
        return gui.add_slider(name, least, most, _step(least, most), start)
    return gui.add_number(name, start, step=0.01)

"""Panel inputs that run, pause, step and reset the simulation, set its speed and start actions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count

from viser import GuiApi, GuiButtonHandle

from tactile_sim.simulation.actions import ACTIONS
from tactile_sim.view.content import ViewScene
from tactile_sim.view.controls import Controls
from tactile_sim.view.panel.keys import add_request_keys
from tactile_sim.view.panel.number_field import NumberField
from tactile_sim.view.web.panel_script import button_row

ORDER = -36.95
"""Position in the panel, below the legend and above the folders."""
MAX_STEPS = 100_000
"""Largest number of steps per click."""
MIN_FACTOR, MAX_FACTOR = 0.001, 1000.0
"""Range of the real-time factor. The value 0 is also valid."""
INITIAL_STATE = "initial state"
SPEEDS = {"0.1 ×": 0.1, "1 ×": 1.0, "max": 0.0}
"""Real-time factors, keyed by button label."""


class RunControls:
    """Panel inputs that run, pause, step and reset the simulation, set its speed and start actions.

    Attributes:
        paused: Whether the simulation is paused.
    """

    def __init__(self, gui: GuiApi, scene: ViewScene, controls: Controls, notify: Callable[[str], None]):
        """Add the inputs to the panel.

        Args:
            gui: viser's panel.
            scene: Constant content of the view.
            controls: Receives the requests.
            notify: Shows a notice to the user.
        """
        self.paused = False
        self._controls, self._notify = controls, notify
        orders = count(ORDER, 0.01)
        self._pause = gui.add_button("Pause", color="yellow", order=next(orders))
        self._pause.on_click(lambda _: controls.ask("pause", not self.paused))
        step = gui.add_button("Step", hint="Takes steps while paused.", order=next(orders))
        step.on_click(lambda _: self._step())
        reset = gui.add_button("Reset", order=next(orders))
        reset.on_click(lambda _: self._reset())
        actions = [_action_button(gui, name, controls, next(orders)) for name in scene.actions]
        gui.add_html(button_row([self._pause, step, reset]) + button_row(actions), order=next(orders))
        self._steps = NumberField(
            gui,
            "steps per click",
            1,
            _is_count,
            f"a whole number from 1 to {MAX_STEPS}",
            notify,
            order=next(orders),
        )
        self._keyframe = gui.add_dropdown("reset to", (INITIAL_STATE, *scene.keyframes), order=next(orders))
        NumberField(
            gui,
            "real-time factor",
            float(scene.real_time_factor),
            lambda factor: factor == 0.0 or MIN_FACTOR <= factor <= MAX_FACTOR,
            f"from {MIN_FACTOR:g} to {MAX_FACTOR:g}, or 0",
            notify,
            partial(controls.ask, "set_parameter", "real_time_factor"),
            hint="1: real time; 0: as fast as possible.",
            order=next(orders),
        )
        gui.add_button_group("", tuple(SPEEDS), order=next(orders)).on_click(
            lambda event: controls.ask("set_parameter", "real_time_factor", SPEEDS[event.target.value])
        )
        add_request_keys(gui, controls, lambda: self.paused)

    def draw(self, paused: bool) -> None:
        """Show whether the simulation is paused."""
        if paused != self.paused:
            self._pause.label = "Run" if paused else "Pause"
            self._pause.color = "green" if paused else "yellow"
        self.paused = paused

    def _step(self) -> None:
        self._notify("")
        if self._steps.settle():
            self._controls.ask("step", int(self._steps.value))

    def _reset(self) -> None:
        keyframe = self._keyframe.value
        self._controls.ask("reset", "" if keyframe == INITIAL_STATE else keyframe)


def _action_button(gui: GuiApi, name: str, controls: Controls, order: float) -> GuiButtonHandle:
    """Add a button for an action without arguments."""
    action = ACTIONS[name]
    button = gui.add_button(action.label.capitalize(), hint=action.description, order=order)
    button.on_click(lambda _: controls.ask(name))
    return button


def _is_count(number: float) -> bool:
    return 1 <= number <= MAX_STEPS and number == int(number)

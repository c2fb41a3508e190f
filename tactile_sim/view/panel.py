"""The panel beside the scene: the state, what can be asked of the simulation, the plot and the images."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from html import escape
from threading import Lock, Timer

import numpy as np
from viser import GuiApi, GuiImageHandle

from tactile_sim.actions import ACTIONS
from tactile_sim.view.actuators import Actuators
from tactile_sim.view.controls import Controls
from tactile_sim.view.force_plot import ForcePlot
from tactile_sim.view.legend import legend
from tactile_sim.view.number_field import NumberField
from tactile_sim.view.world import Moment, World

REFRESH = 0.1
"""Seconds of wall time between two states, plots and images."""
WIDTH = 240
"""Small images are enlarged to about so many pixels."""
FEW = 3
"""So many images at most are seen without being asked for."""
ENCODING = 0.01
"""Images that change are renewed in turn, for so long [s] at each refresh while time runs."""
FADING = 6.0
"""An answer is seen for so long [s]; what a bag lacks stays."""
MOST_STEPS = 100_000
"""At once."""
SLOWEST, FASTEST = 0.001, 1000.0
"""Real-time factors that can be asked for, besides 0."""
STATE, FAULT, ANSWER, LEGEND = -40.0, -39.0, -38.0, -37.0
"""The order of what stands above all else."""
START = "the start"
PUSH, THROW = "pushes it", "throws the ball"
STRONGEST = 50.0
"""The greatest push, in ends of the taxels' scale, which is about a tenth of the weight of what moves."""


class Panel:
    """Shows moments, and hands on what is asked of the simulation.

    Attributes: ``images``, the tactile ones; ``plot``, the picture of forces, None where there is no skin.
    """

    def __init__(self, gui: GuiApi, world: World, controls: Controls | None):
        self._gui = gui
        self._world = world
        self._controls = controls
        self._due = 0.0
        self._waiting: Moment | None = None
        """What is not yet shown, or not all of it."""
        self._paused = False
        self._fading: Timer | None = None
        """Ends the answer that is seen."""
        self._telling = Lock()
        self._scale = (world.taxel_scale, "N")
        """What colours of taxels mean: the end of the scale, and its unit."""
        self._state = gui.add_html(_line("waiting for the first moment"), order=STATE)
        self._fault = gui.add_html("", visible=False, order=FAULT)
        self._answer = gui.add_html("", visible=False, order=ANSWER)
        self._show_answer("")
        if len(world.taxel_positions):
            self._legend = gui.add_html(legend(*self._scale), order=LEGEND)
        if controls is not None:
            self._add_controls(controls)
        self._plot = ForcePlot(gui, world) if len(world.skin_bodies) else None
        self.plot = self._plot and self._plot.picture
        self._actuators = Actuators(gui, world, controls, self.tell) if controls and world.actuators else None
        self.images = self._add_images()
        self._pixels = [np.zeros(0, np.uint8)] * len(self.images)
        """What the images show."""
        self._turn = 0

    # -- what is asked ---------------------------------------------------------------------------------------

    def _add_controls(self, controls: Controls) -> None:
        gui = self._gui
        self._pause = gui.add_button("Pause", color="yellow")
        self._pause.on_click(lambda _: controls.ask("pause", not self._paused))
        self._steps = NumberField(
            gui, "steps at once", 1, _is_count, f"a whole number from 1 to {MOST_STEPS}", self.tell
        )
        gui.add_button("Step", hint="While time stands still: so many steps.").on_click(
            lambda _: self._step(controls)
        )
        keyframe = gui.add_dropdown("reset to", (START, *self._world.keyframes))
        gui.add_button("Reset").on_click(
            lambda _: controls.ask("reset", "" if keyframe.value == START else keyframe.value)
        )
        for name in self._world.actions:
            self._add_button(controls, name)
        NumberField(
            gui,
            "real-time factor",
            float(self._world.real_time_factor),
            lambda factor: factor == 0.0 or SLOWEST <= factor <= FASTEST,
            f"from {SLOWEST:g} to {FASTEST:g}, or 0",
            self.tell,
            partial(controls.ask, "set_parameter", "real_time_factor"),
            hint="1: as fast as the clock on the wall; 0: as fast as possible.",
        )
        end = self._world.taxel_scale
        with gui.add_folder("A click on a body", expand_by_default=False):
            clicks = (PUSH, THROW) if "throw" in self._world.actions else (PUSH,)
            self._click = gui.add_dropdown("a click", clicks)
            self._strength = gui.add_slider("with [N]", 0.0, STRONGEST * end, end / 2.0, 10.0 * end)

    def _add_button(self, controls: Controls, name: str) -> None:
        """Add the button of an action without arguments."""
        button = self._gui.add_button(ACTIONS[name].label.capitalize(), hint=ACTIONS[name].description)
        button.on_click(lambda _: controls.ask(name))

    def _step(self, controls: Controls) -> None:
        """Takes so many steps, if that can be."""
        self.tell("")
        if self._steps.settle():
            controls.ask("step", int(self._steps.value))

    def pick(self, body: int, direction: np.ndarray) -> None:
        """Handle a click on a body.

        Args:
            body: Index into ``World.bodies``.
            direction: View direction (3,) in the world.
        """
        length = np.linalg.norm(direction)
        if self._controls is None or length == 0.0:
            return
        if self._click.value == THROW:
            self._controls.ask("throw")
        elif body in self._world.free_bodies:
            strength = np.clip(self._strength.value, 0.0, STRONGEST * self._world.taxel_scale)
            self._controls.ask("push", body, strength * direction / length)
        else:
            self.tell(f"{self._world.bodies[body]} cannot be pushed: it is fixed")

    # -- what is seen ----------------------------------------------------------------------------------------

    def draw(self, moment: Moment) -> None:
        """Shows a moment, unless one was shown just now; one of standing time always."""
        if self._plot:
            self._plot.add(moment)
        if self._actuators:
            self._actuators.begin(moment.controls)
        self._waiting = moment
        self.catch_up()

    def catch_up(self) -> None:
        """Shows what is left to show of the last moment, if that is due."""
        moment, now = self._waiting, time.monotonic()
        if moment is None:
            return
        still = moment.paused or moment.paused != self._paused or moment.fault
        if now < self._due and not still:
            return
        self._due = now + REFRESH
        self._show_state(moment)
        if self._plot:
            self._plot.draw()
        if self._show_images(moment.pictures, np.inf if still else ENCODING):
            self._waiting = None

    def _show_state(self, moment: Moment) -> None:
        pace = "paused" if moment.paused else f"{moment.real_time_factor:.2f} × real time"
        self._state.content = _line(f"<b>{moment.time:.3f} s</b> &nbsp; {pace}")
        if self._controls is not None and moment.paused != self._paused:
            self._pause.label = "Run" if moment.paused else "Pause"
            self._pause.color = "green" if moment.paused else "yellow"
        self._paused = moment.paused
        self._fault.content = _line(escape(moment.fault), "#ff6b6b")
        self._fault.visible = bool(moment.fault)
        scale = (moment.taxel_scale or self._world.taxel_scale, moment.unit)
        if scale != self._scale and len(self._world.taxel_positions):
            self._scale = scale
            self._legend.content = legend(*scale)

    def _show_images(self, pictures: Sequence[np.ndarray], patience: float) -> bool:
        """Renews those that changed, for so long [s]; says whether it came to the end."""
        end = time.monotonic() + patience
        for _ in pictures:
            if time.monotonic() > end:
                return False
            k = self._turn = (self._turn + 1) % len(self.images)
            if not np.array_equal(self._pixels[k], pictures[k]):
                self._pixels[k] = pictures[k]
                self.images[k].image = _shown(pictures[k])
        return True

    def tell(self, text: str) -> None:
        """Shows an answer for a while, or until the next."""
        with self._telling:
            if self._fading:
                self._fading.cancel()
            self._fading = None
            self._show_answer(text)
            if text and self._controls is not None:
                self._fading = Timer(FADING, self._show_answer, [""])
                self._fading.daemon = True
                self._fading.start()

    def _show_answer(self, text: str) -> None:
        """In a line of its own that stays: buttons that move away would be missed."""
        self._answer.content = _line(escape(text) or "&nbsp;", "#ffd43b")
        self._answer.visible = bool(text) or self._controls is not None

    def _add_images(self) -> list[GuiImageHandle]:
        if not self._world.pictures:
            return []
        few = len(self._world.pictures) <= FEW
        with self._gui.add_folder(f"Tactile images ({len(self._world.pictures)})", expand_by_default=few):
            return [
                self._gui.add_image(
                    _shown(np.zeros((picture.height, picture.width), np.uint8)),
                    label=f"{self._world.bodies[picture.body]}: {picture.sense}",
                    format="png",
                )
                for picture in self._world.pictures
            ]


def _is_count(number: float) -> bool:
    return 1 <= number <= MOST_STEPS and number == int(number)


def _line(text: str, color: str = "inherit") -> str:
    return f'<div style="padding: 0 1em 0.4em 1em; font-size: 0.9em; color: {color}">{text}</div>'


def _shown(pixels: np.ndarray) -> np.ndarray:
    """(height, width, 3) of an image in grey or in colours, enlarged so that its pixels are seen."""
    colored = pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)
    size = max(1, WIDTH // max(pixels.shape[1], 1))
    return colored.repeat(size, axis=0).repeat(size, axis=1)

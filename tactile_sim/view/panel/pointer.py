"""Handle clicks on bodies and drags of bodies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from viser import GuiApi

from tactile_sim.view.content import ViewFrame, ViewScene
from tactile_sim.view.controls import Controls
from tactile_sim.view.panel.probe import Probe
from tactile_sim.view.scene.viewpoint import to_body

PIN, POKE, PUSH, THROW = "pin a taxel", "poke the skin", "push the body", "throw a ball"
MAX_PUSH = 50.0
"""Largest force of a push or pull [ends of the taxel scale].

The end of the scale is about a tenth of the weight of the heaviest free body, or of all moving bodies if none
is free.
"""
MAX_POKE = 5.0
"""Largest force of a poke [N], unless the limit for pushes is larger."""
POKE_TIME = 1.0
"""Duration of a poke in simulation time [s]."""


class Pointer:
    """Translates clicks and drags into requests and pinned taxels."""

    def __init__(
        self,
        gui: GuiApi,
        scene: ViewScene,
        controls: Controls | None,
        probe: Probe | None,
        notify: Callable[[str], None],
    ):
        """Add the inputs to the panel.

        Args:
            gui: viser's panel.
            scene: Constant content of the view.
            controls: Receives the requests. If None, users can only pin taxels.
            probe: Finds and pins taxels; None if the scene has no skin.
            notify: Shows a notice to the user.
        """
        self._scene, self._controls, self._probe, self._notify = scene, controls, probe, notify
        self._frame: ViewFrame | None = None
        self._grab: tuple[int, int, np.ndarray] | None = None
        """Client, body and point (3,) in the body frame [m] for the current drag."""
        self._limit = MAX_PUSH * scene.taxel_scale
        choices = [PIN] if probe else []
        if controls:
            choices += [*([POKE] if probe else []), PUSH]
            choices += [THROW] if "throw" in scene.actions else []
        self._choices = bool(choices)
        if not choices:
            return
        with gui.add_folder("Click on a body", expand_by_default=False):
            self._action = gui.add_dropdown("action", choices)
            if controls and probe:
                largest = max(MAX_POKE, self._limit)
                self._poke = gui.add_slider("poke [N]", 0.05, largest, 0.05, 1.0)
            if controls:
                end = scene.taxel_scale
                self._push = gui.add_slider("force [N]", 0.0, self._limit, end / 2.0, 10.0 * end)

    def draw(self, frame: ViewFrame) -> None:
        """Store a view frame, so that later clicks and drags use its poses."""
        self._frame = frame

    def on_click(self, body: int, client: int, origin: np.ndarray, direction: np.ndarray) -> None:
        """Handle a click on a body: perform the action that is selected in the panel.

        The arguments are those of `tactile_sim.view.scene.browser_scene.PointerHandler`.
        """
        length = np.linalg.norm(direction)
        if not self._choices or length == 0.0:
            return
        action = self._action.value
        if action in (PIN, POKE):
            self._on_skin(action, origin, direction / length)
        elif self._controls is None:
            return
        elif action == THROW:
            self._controls.ask("throw")
        elif body in self._scene.pushable_bodies:
            force = np.clip(self._push.value, 0.0, self._limit)
            self._controls.ask("push", body, force * direction / length)
        else:
            self._refuse(body, "pushed")

    def _on_skin(self, action: str, origin: np.ndarray, direction: np.ndarray) -> None:
        assert self._probe is not None
        taxel = self._probe.find(origin, direction, shining=action == PIN)
        if taxel is None:
            self._notify("no taxel there; click on a skin")
        elif action == PIN:
            self._notify(self._probe.pin(taxel))
        elif self._controls:
            body, point, inward = self._probe.load(taxel)
            force = np.clip(self._poke.value, 0.0, max(MAX_POKE, self._limit))
            self._notify(f"poking {self._probe.name(taxel)} with {force:.3g} N for {POKE_TIME:g} s")
            self._controls.ask("press", body, point, force * inward, POKE_TIME)

    def on_drag(self, body: int, client: int, phase: str, start: np.ndarray, end: np.ndarray) -> None:
        """Handle a drag on a body: pull the grabbed point to the pointer with a spring until the drag ends.

        The arguments are those of `tactile_sim.view.scene.browser_scene.PointerHandler`.
        """
        if self._controls is None or self._frame is None:
            return
        if phase == "end":
            self.leave(client)
        elif phase == "start" and body not in self._scene.pushable_bodies:
            self._refuse(body, "dragged")
        elif phase == "start":
            self._grab = (client, body, to_body(body, start, self._frame))
        elif self._grab and self._grab[:2] == (client, body):
            self._controls.ask("pull", body, self._grab[2], end, self._limit)

    def leave(self, client: int) -> None:
        """End the current drag in a browser, if any."""
        if self._grab and self._grab[0] == client and self._controls:
            self._grab = None
            self._controls.ask("release")

    def _refuse(self, body: int, done: str) -> None:
        self._notify(f"{self._scene.bodies[body]}: is fixed to the world and cannot be {done}")

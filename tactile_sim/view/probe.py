"""Show the readings of individual taxels, and handle clicks on bodies and drags of bodies."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from threading import RLock

import numpy as np
from viser import GuiApi, GuiFolderHandle, LabelHandle, ViserServer

from tactile_sim.figures.colors import full_scale, levels, prefixed, quantity
from tactile_sim.view.camera import to_body, to_world
from tactile_sim.view.content import Controls, ViewFrame, ViewScene
from tactile_sim.view.plots import ForceHistory, line_plot
from tactile_sim.view.viser_internals import uuid_of

MIN_MOTION = 1e-6
"""Smallest change of a position [m] or quaternion component that is sent to browsers."""
MAX_PINS = 6
"""Largest number of pinned taxels. Pinning another one unpins the oldest."""
REACH = 1.5
"""Largest distance between a taxel and the pointer's ray [spacings]."""
MAX_COORDINATE = 1e6
"""Rays from the browser are ignored if any of their coordinates has this magnitude or more."""
MIN_AXIS = 0.05
"""Ratio of the smallest end of the plot axis to the expected largest reading."""


class Probe:
    """Finds the taxel at the pointer of a browser, and shows the pinned taxels in all browsers."""

    def __init__(self, server: ViserServer, scene: ViewScene, order: float):
        counts = np.asarray(scene.taxel_counts, int)
        self._server, self._scene = server, scene
        self._bodies = np.repeat(np.asarray(scene.skin_bodies, int), counts)
        self._pads = np.repeat(np.arange(len(counts)), counts)
        self._reach = REACH * np.repeat(np.asarray(scene.taxel_spacings, float), counts)
        self._frame: ViewFrame | None = None
        self._shown = np.ones(len(self._bodies), bool)
        """Whether each taxel's pad is shown."""
        self._lock = RLock()
        self._pins: list[int] = []
        self._marks: dict[int, LabelHandle] = {}
        """Labels of the pinned taxels in the scene, keyed by taxel."""
        self._history = ForceHistory(MAX_PINS)
        self._plot = server.gui.add_html("", visible=False, order=order)
        # The script in the page removes pins through this input.
        self._channel = server.gui.add_text("remove a pin", "", visible=False)
        self._channel.on_update(lambda event: self._on_message(event.target.value))

    def draw(self, frame: ViewFrame) -> None:
        """Store the readings that a view frame contains, for the next `refresh`."""
        with self._lock:
            self._frame = frame
            if self._pins and len(frame.readings) == len(self._bodies):
                values = np.zeros((MAX_PINS, 3))
                values[: len(self._pins), 0] = frame.readings[self._pins]
                self._history.add(frame, values)
            self._move_marks()

    def refresh(self) -> None:
        """Update the labels and the plot with the stored readings."""
        with self._lock:
            if self._pins:
                self._show_plot()

    def set_shown(self, shown: np.ndarray) -> None:
        """Ignore the taxels of hidden pads and hide their labels.

        Args:
            shown: (s,) bool, whether each of the s pads is shown.
        """
        with self._lock:
            self._shown = shown[self._pads]
            for taxel, mark in self._marks.items():
                mark.visible = bool(self._shown[taxel])

    def answer(self, query: str) -> str:
        """Return the taxel that a ray hits as JSON with its name, value and position, or an empty string.

        The query contains the origin and the direction of the ray in the world frame, six numbers.
        """
        try:
            ray = np.array(query.split(","), float)
        except ValueError:
            return ""
        if ray.shape != (6,) or not (np.abs(ray) < MAX_COORDINATE).all() or not ray[3:].any():
            return ""
        taxel, frame = self.find(ray[:3], ray[3:] / np.linalg.norm(ray[3:])), self._frame
        if taxel is None or frame is None:
            return ""
        place = self._place(taxel, frame)
        where = ", ".join(f"{part:.3f}" for part in (place.round(3) + 0.0).tolist())  # no -0.000
        card = {"name": self.name(taxel), "value": self.value(taxel), "where": f"({where}) m"}
        return json.dumps(card | {"position": place.tolist()})

    def find(self, origin: np.ndarray, direction: np.ndarray, shining: bool = True) -> int | None:
        """Return the index of the taxel closest to a ray on the first surface that the ray hits, or None.

        Taxels that face the origin of the ray are preferred.

        Args:
            origin: Origin of the ray (3,), world frame [m].
            direction: Unit direction of the ray (3,), world frame.
            shining: Whether to prefer a taxel with a visible reading behind the first surface if the closest
                taxel has none.
        """
        frame = self._frame
        if frame is None or not len(self._bodies):
            return None
        offset = to_world(self._bodies, self._scene.taxel_positions, frame) - origin
        depth = offset @ direction
        distance = np.linalg.norm(offset - depth[:, None] * direction, axis=1)
        met = np.flatnonzero((depth > 0.0) & (distance < self._reach) & self._shown)
        if not len(met):
            return None
        outward = to_world(self._bodies[met], self._scene.taxel_normals[met], frame, rotate_only=True)
        facing = met[outward @ direction < 0.0]
        facing = facing if len(facing) else met
        end = depth[facing].min() + 2.0 * self._reach
        first = facing[depth[facing] < end[facing]]  # the first surface
        nearest = int(first[distance[first].argmin()])
        if shining and len(frame.readings) == len(self._bodies) and not self._glows(nearest):
            behind = met[(depth[met] >= end[met]) & (distance[met] < 0.5 * self._reach[met])]
            behind = behind[self._glows(behind)]
            if len(behind):
                return int(behind[depth[behind].argmin()])
        return nearest

    def _glows(self, taxels: int | np.ndarray) -> np.ndarray:
        """Return whether the readings of taxels are visible on the color scale."""
        assert self._frame is not None
        return levels(self._frame.readings[taxels], self._frame.taxel_scale) > 0.0

    def load(self, taxel: int) -> tuple[int, np.ndarray, np.ndarray]:
        """Return a taxel's body index, position (3,) [m] and inward normal (3,), both in the body frame."""
        scene = self._scene
        return int(self._bodies[taxel]), scene.taxel_positions[taxel], -scene.taxel_normals[taxel]

    def pin(self, taxel: int) -> str:
        """Pin a taxel, or unpin it if it is already pinned, and return a message for the user.

        If `MAX_PINS` taxels are already pinned, the oldest pin is removed. The plot is cleared.
        """
        with self._lock:
            if taxel in self._pins:
                self._pins.remove(taxel)
                done = "unpinned"
            else:
                self._pins = [*self._pins, taxel][-MAX_PINS:]
                done = "pinned"
            self._history = ForceHistory(MAX_PINS)
            self._plot.visible = bool(self._pins)
            if self._frame:
                self.draw(self._frame)
                self._show_plot()
            self._show_pins()
        return f"{done} {self.name(taxel)}"

    def _show_pins(self) -> None:
        """Add and remove labels of pinned taxels in the scene."""
        for taxel in self._marks.keys() - set(self._pins):
            self._marks.pop(taxel).remove()
        for taxel in set(self._pins) - self._marks.keys():
            text = f"#{int(self._scene.taxel_ids[taxel])}"
            self._marks[taxel] = self._server.scene.add_label(
                f"/pinned_taxel_{taxel}", text, font_screen_scale=0.8, anchor="bottom-left"
            )
        self._move_marks()

    def _move_marks(self) -> None:
        """Place the labels of pinned taxels; NaN poses are ignored."""
        if self._frame is None or not self._marks:
            return
        taxels = np.array(list(self._marks))
        places = to_world(self._bodies[taxels], self._scene.taxel_positions[taxels], self._frame)
        for mark, place in zip(self._marks.values(), places, strict=True):
            if np.isfinite(place).all() and not np.allclose(mark.position, place, rtol=0.0, atol=MIN_MOTION):
                mark.position = place

    def value(self, taxel: int) -> str:
        """Return the reading of a taxel with its unit, or an empty string if it is unknown."""
        frame = self._frame
        if frame is None or len(frame.readings) != len(self._bodies):
            return ""
        invalid = ", invalid" if len(frame.valid) and not frame.valid[taxel] else ""
        return f"{quantity(frame.readings[taxel], frame.unit)}{invalid}"

    def _place(self, taxel: int, frame: ViewFrame) -> np.ndarray:
        return to_world(self._bodies[[taxel]], self._scene.taxel_positions[[taxel]], frame)[0]

    def name(self, taxel: int) -> str:
        """Return the name of a taxel: its pad and its id."""
        return f"{self._scene.pads[self._pads[taxel]]} #{int(self._scene.taxel_ids[taxel])}"

    def _show_plot(self) -> None:
        segments = [(times, values[:, : len(self._pins)]) for times, values in self._history.segments()]
        least = MIN_AXIS * self._scene.taxel_scale
        largest = max((values.max(initial=least) for _, values in segments), default=least)
        axis = full_scale(largest)
        size, unit = prefixed(axis, self._frame.unit if self._frame else "")
        current = [
            (self.name(taxel), value / size)
            for taxel, value in zip(self._pins, self._history.forces.tolist(), strict=False)
        ]
        title = f"pinned taxels [{escape(unit)}]" if unit else "pinned taxels"
        scaled = [(times, values / size) for times, values in segments]
        channel, pins = uuid_of(self._channel), self._pins
        buttons = [
            f'<button data-channel="{channel}" data-value="{pin}" aria-label="unpin {name}">&times;</button>'
            for pin, (name, _) in zip(pins, current, strict=False)
        ]
        self._plot.content = line_plot(title, scaled, axis / size, current, buttons)

    def _on_message(self, message: str) -> None:
        """Handle a message ``TAXEL COUNT``."""
        taxel = message.partition(" ")[0]
        if taxel in map(str, self._pins):
            self.pin(int(taxel))


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
        folder: GuiFolderHandle | None,
        scene: ViewScene,
        controls: Controls | None,
        probe: Probe | None,
        notify: Callable[[str], None],
    ):
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
        if not choices or folder is None:
            return
        with folder:
            self._action = gui.add_dropdown("a click", choices)
            if controls and probe:
                largest = max(MAX_POKE, self._limit)
                self._poke = gui.add_slider("poke [N]", 0.05, largest, 0.05, 1.0)
            if controls:
                end = scene.taxel_scale
                self._push = gui.add_slider("force [N]", 0.0, self._limit, end / 2.0, 10.0 * end)

    def draw(self, frame: ViewFrame) -> None:
        """Store a view frame, so that later clicks and drags use its poses."""
        self._frame = frame

    def on_click(self, body: int, origin: np.ndarray, direction: np.ndarray) -> None:
        """Handle a click on a body: perform the action that is selected in the panel.

        The view ray has an origin and a direction (3,), in the world frame [m].
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

        Args:
            body: Index into ``ViewScene.bodies``.
            client: Id of the browser.
            phase: ``start``, ``update`` or ``end``.
            start: Point at which the body was grabbed (3,), world frame [m].
            end: Current point under the pointer (3,), world frame [m].
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

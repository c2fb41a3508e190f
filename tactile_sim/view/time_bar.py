"""The bar that moves through a bag: play, pause, speed, and instant by instant."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue

import numpy as np
from viser import GuiApi

from tactile_sim.view.asked import on_user

SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4", "8")
REFRESH = 0.2
"""Seconds of wall time after which the bar shows where it plays."""


class TimeBar:
    """The time that is shown, in ns from the beginning of the bag.

    What users ask for is done by ``go_on``, in the thread that calls it. Attribute: ``jumped``, whether the
    last one went elsewhere than time goes.
    """

    def __init__(self, gui: GuiApi, instants: np.ndarray, duration: int):
        """instants: (n,) of the messages to step by, from the beginning of the bag [ns]."""
        self.time = 0.0
        self.playing = True
        self.speed = 1.0
        self.jumped = False
        self._instants = instants
        self._duration = duration
        self._asked: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._shown = 0.0
        self._labelled = True
        self._button = gui.add_button("Pause", color="yellow", order=-5)
        end = max(duration / 1e9, 1e-3)
        bar = gui.add_slider("time [s]", 0.0, end, min(1e-3, end), 0.0, order=-4)
        steps = gui.add_button_group("message", ("previous", "next"), order=-3)
        speed = gui.add_dropdown("speed", SPEEDS, initial_value="1", order=-2)
        self._button.on_click(lambda _: self._asked.put(self._toggle))
        self._show_time = on_user(bar, lambda seconds: self._asked.put(lambda: self._jump(seconds * 1e9)))
        steps.on_click(lambda event: self._ask_step(1 if event.target.value == "next" else -1))
        on_user(speed, lambda text: self._asked.put(lambda: self._pace(float(text))))

    def go_on(self, passed: float) -> bool:
        """Lets so much wall time [s] pass; says whether there is something new to show."""
        before = self.time, self.playing
        self.jumped = False
        if self.playing:
            self.time = min(self.time + passed * self.speed * 1e9, self._duration)
            self.playing = self.time < self._duration
        while True:
            try:
                self._asked.get_nowait()()
            except Empty:
                break
        self._show(passed)
        return (self.time, self.playing) != before

    def _show(self, passed: float) -> None:
        self._shown += passed
        if self._labelled != self.playing:
            self._labelled = self.playing
            self._button.label = "Pause" if self.playing else "Play"
            self._button.color = "yellow" if self.playing else "green"
        if self._shown >= REFRESH or not self.playing:
            self._shown = 0.0
            self._show_time(round(self.time / 1e9, 3))

    def _toggle(self) -> None:
        self.playing = not self.playing
        if self.playing and self.time >= self._duration:
            self.time = 0.0

    def _jump(self, time: float) -> None:
        self.time = float(np.clip(time, 0.0, self._duration))
        self.jumped = True

    def _pace(self, speed: float) -> None:
        self.speed = speed

    def _ask_step(self, direction: int) -> None:
        self._asked.put(lambda: self._step(direction))

    def _step(self, direction: int) -> None:
        """To the next message or the one before, and stay there."""
        self.playing = False
        now = round(self.time)
        if direction > 0:
            k = int(np.searchsorted(self._instants, now, side="right"))
        else:
            k = int(np.searchsorted(self._instants, now, side="left")) - 1
        if 0 <= k < len(self._instants):
            self.time = float(self._instants[k])

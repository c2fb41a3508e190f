"""The time bar for bag playback, with play, pause, speed and single steps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from queue import Empty, SimpleQueue

import numpy as np
from viser import GuiApi

from tactile_sim.view.panel.run_controls import ORDER
from tactile_sim.view.panel.user_input import on_user

SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4", "8")
REFRESH = 0.2
"""Wall time between two updates of the bar during playback [s]."""


class TimeBar:
    """Controls the playback time. Times are relative to the start of the bag [ns].

    User inputs take effect in ``advance``, in the thread that calls it.

    Attributes:
        time: Current time [ns].
        playing: Whether the bag is playing.
        speed: Ratio of bag time to wall time.
        jumped: Whether the last call of ``advance`` moved the time because a user had moved it.
    """

    def __init__(self, gui: GuiApi, step_times: np.ndarray, duration: int):
        """Add the inputs to the panel.

        Args:
            gui: viser's panel.
            step_times: Times (n,) that users can step through, relative to the start of the bag [ns].
            duration: Length of the bag [ns].
        """
        self.time = 0.0
        self.playing = True
        self.speed = 1.0
        self.jumped = False
        self._step_times = step_times
        self._duration = duration
        self._inputs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._since_refresh = 0.0
        self._labelled_playing = True
        orders = count(ORDER, 0.01)
        self._button = gui.add_button("Pause", color="yellow", order=next(orders))
        end = max(duration / 1e9, 1e-3)
        bar = gui.add_slider("time [s]", 0.0, end, min(1e-3, end), 0.0, order=next(orders))
        steps = gui.add_button_group("message", ("previous", "next"), order=next(orders))
        speed = gui.add_dropdown("speed", SPEEDS, initial_value="1", order=next(orders))
        self._button.on_click(lambda _: self._inputs.put(self._toggle))
        self._put_time = on_user(bar, lambda seconds: self._inputs.put(lambda: self._jump(seconds * 1e9)))
        steps.on_click(lambda event: self._queue_step(1 if event.target.value == "next" else -1))
        on_user(speed, lambda text: self._inputs.put(lambda: self._set_speed(float(text))))

    def advance(self, elapsed: float) -> bool:
        """Advance by wall time [s], apply user inputs and return whether the time or ``playing`` changed."""
        before = self.time, self.playing
        self.jumped = False
        if self.playing:
            self.time = min(self.time + elapsed * self.speed * 1e9, self._duration)
            self.playing = self.time < self._duration
        while True:
            try:
                self._inputs.get_nowait()()
            except Empty:
                break
        self._refresh(elapsed)
        return (self.time, self.playing) != before

    def seek(self, share: float) -> None:
        """Move to a fraction of the duration when ``advance`` is called next."""
        self._inputs.put(lambda: self._jump(share * self._duration))

    def _refresh(self, elapsed: float) -> None:
        self._since_refresh += elapsed
        if self._labelled_playing != self.playing:
            self._labelled_playing = self.playing
            self._button.label = "Pause" if self.playing else "Play"
            self._button.color = "yellow" if self.playing else "green"
        if self._since_refresh >= REFRESH or not self.playing:
            self._since_refresh = 0.0
            self._put_time(round(self.time / 1e9, 3))

    def _toggle(self) -> None:
        self.playing = not self.playing
        if self.playing and self.time >= self._duration:
            self.time = 0.0

    def _jump(self, time: float) -> None:
        self.time = float(np.clip(time, 0.0, self._duration))
        self.jumped = True

    def _set_speed(self, speed: float) -> None:
        self.speed = speed

    def _queue_step(self, direction: int) -> None:
        self._inputs.put(lambda: self._step(direction))

    def _step(self, direction: int) -> None:
        """Pause and move to the next message (1) or the previous one (-1)."""
        self.playing = False
        now = round(self.time)
        if direction > 0:
            k = int(np.searchsorted(self._step_times, now, side="right"))
        else:
            k = int(np.searchsorted(self._step_times, now, side="left")) - 1
        if 0 <= k < len(self._step_times):
            self.time = float(self._step_times[k])

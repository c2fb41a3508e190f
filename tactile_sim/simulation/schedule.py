"""Compute the steps at which topics are due."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

_SLACK = 1e-9
"""Tolerance for rounding errors in products of time step and rate: 0.002 s × 100 Hz must count as 0.2."""
_NO_SPAN = (0, 0, -1)
"""Interval without steps."""


class Schedule:
    """Steps at which streams are due, computed from their rates [Hz of simulation time].

    A stream with rate r is due at the first step at or after each multiple of 1/r, at most once per step. A
    stream with rate 0 is never due.

    Args:
        timestep: Duration of a step [s].
        rates: Rate of each stream [Hz].
        pads: Rates of the pads that have their own stream, by name [Hz].
        cameras: Rates of all cameras, by name [Hz]; a camera with a rate has its own stream.
    """

    def __init__(
        self,
        timestep: float,
        rates: Mapping[str, float],
        pads: Mapping[str, float] = {},
        cameras: Mapping[str, float | None] = {},
    ):
        self._timestep, self._cameras = timestep, cameras
        self.pad_rates = {f"tactile/{pad}": rate for pad, rate in pads.items()}
        """Rates of the pads that have their own stream, by the name of the stream [Hz]."""
        self.tactile = {"tactile", *self.pad_rates}
        """Names of the streams in which pads are published."""
        own = {self.camera_stream(name): rate for name, rate in cameras.items() if rate}
        rates = {**rates, **self.pad_rates, **own}
        self._per_step = {name: min(rate * timestep, 1.0) for name, rate in rates.items() if rate > 0.0}
        self._spans: dict[float, tuple[int, int, int]] = {}
        """Last result of `_span` for each rate. It applies to all steps from its first to before its second
        number, of which only the third one is due."""

    def pad_stream(self, pad: str) -> str:
        """Return the stream that publishes a pad: ``tactile``, or its own if it has a rate."""
        return f"tactile/{pad}" if f"tactile/{pad}" in self.pad_rates else "tactile"

    def camera_stream(self, camera: str) -> str:
        """Return the stream that publishes a camera: ``images``, or its own if it has a rate."""
        return f"cameras/{camera}" if self._cameras[camera] else "images"

    def runs(self, name: str) -> bool:
        """Return whether a stream is ever due."""
        return name in self._per_step

    def rate(self, name: str) -> float:
        """Return the rate of a stream [Hz of simulation time], at most one message per step; 0: never due."""
        return self.per_step(name) / self._timestep

    def per_step(self, name: str) -> float:
        """Return the number of messages of a stream per step, at most 1; 0: never due."""
        return self._per_step.get(name, 0.0)

    def due(self, step: int, names: Iterable[str]) -> set[str]:
        """Return the streams that are due at a step.

        Args:
            step: Number of steps since the start.
            names: The streams to consider.
        """
        return self.due_and_next(step, names)[0]

    def next(self, step: int, names: Iterable[str]) -> int | None:
        """Return the first step after ``step`` at which any of the streams is due; None if none ever is.

        Args:
            step: Number of steps since the start.
            names: The streams to consider.
        """
        return self.due_and_next(step, names)[1]

    def due_and_next(self, step: int, names: Iterable[str]) -> tuple[set[str], int | None]:
        """Return the results of `due` and `next`."""
        due, soonest, spans = set[str](), None, self._spans
        for name in names:
            per_step = self._per_step.get(name)
            if per_step is None:
                continue
            begin, following, due_at = spans.get(per_step, _NO_SPAN)
            if not begin <= step < following:
                begin, following, due_at = spans[per_step] = self._span(step, per_step)
            if step == due_at:
                due.add(name)
            if soonest is None or following < soonest:
                soonest = following
        return due, soonest

    def _span(self, step: int, per_step: float) -> tuple[int, int, int]:
        """Return ``step``, the next step at which a stream is due, and ``step`` if it is due then, or -1.

        Args:
            step: Number of steps since the start.
            per_step: Number of messages per step, at most 1.
        """
        count = math.floor(step * per_step + _SLACK)
        is_due = count > math.floor((step - 1) * per_step + _SLACK)
        following = max(step + 1, math.ceil((count + 1) / per_step - _SLACK))
        return step, following, step if is_due else -1

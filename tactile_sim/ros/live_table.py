"""State and layout of the demo's live table, independent of ROS."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from rich.bar import Bar
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tactile_sim.common.text import counted
from tactile_sim.figures.colors import DECADES, levels

HISTORY = 3.0
"""Time span of the sparklines [s of wall time]."""
SPARKS = " ▁▂▃▄▅▆▇█"
SPARK_WIDTH = 12
"""Width of a sparkline [columns]."""
TOUCHED = 5e-4
"""Minimum peak force at which a body is listed [N]. Smaller forces would be displayed as 0.000."""
WINDOW = 3.0
"""Period over which rates are averaged [s of wall time].

A delay of the node is shown for at most 2 s, until its next report. All this time, the period includes the
delay. If it began during the delay, the real-time factor could exceed 1: the node makes up short delays.
"""
PEAK_WINDOW = 1.0
"""Time for which a peak remains visible [s of wall time]. The impacts last only milliseconds."""
BAR_WIDTH = 18
"""Width of a bar [columns]."""
PLAIN_BAR_WIDTH = 20
PLAIN_ROWS = 20
HEADINGS = ("net [N]", "taxels [N]", "1 s peak [N]")


@dataclass
class State:
    """Data from the latest messages. Unless noted, times are wall times from a monotonic clock [s]."""

    bodies: Sequence[str] = ()
    net: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Magnitude of the net force on each body (bodies,) [N]."""
    sums: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Sum of the magnitudes of each body's taxel forces (bodies,) [N]."""
    contacts: int | None = None
    """Number of contacts; None before the first message."""
    time: float | None = None
    """Simulation time [s]; None before the first message."""
    paused: bool = False
    frames: int = 0
    """Number of skin messages received."""
    problem: str = ""
    """Warnings and errors from the diagnostics messages."""
    fault: str = ""
    """Description of the physics fault that stopped time; empty if there is none."""
    _sums_by_time: deque[tuple[float, np.ndarray]] = field(default_factory=deque)
    _history: deque[tuple[float, float, int]] = field(default_factory=deque)

    def add_frame(
        self, now: float, bodies: Sequence[str], counts: np.ndarray, data: np.ndarray, channels: int
    ) -> None:
        """Add a message with the readings of all bodies.

        Args:
            now: Wall time [s].
            bodies: Names of the B bodies (or of their pads).
            counts: Number of taxels on each body (B,).
            data: Taxel forces [N] as a flat array (counts.sum() * channels,): all taxels of the first body,
                then those of the second, and so on. The channels of a taxel are adjacent.
            channels: Number of force components per taxel.
        """
        self.bodies = bodies
        self.net, self.sums = forces(counts, data, channels)
        self.frames += 1
        self._sums_by_time.append((now, self.sums))
        while self._sums_by_time[0][0] < now - HISTORY:
            self._sums_by_time.popleft()

    def tick(self, now: float) -> None:
        """Record the current simulation time and message count, from which the rates are computed.

        Records from before a pause are dropped.

        Args:
            now: Wall time [s].
        """
        if self.paused:
            self._history.clear()
        self._history.append((now, self.time or 0.0, self.frames))
        while self._history[0][0] < now - WINDOW:
            self._history.popleft()

    @property
    def has_data(self) -> bool:
        """True if any message has been received."""
        return bool(self.frames) or self.time is not None or self.contacts is not None

    @property
    def peaks(self) -> np.ndarray:
        """Maximum of ``sums`` during the last `PEAK_WINDOW`, for each body (bodies,) [N]."""
        start = self._sums_by_time[-1][0] - PEAK_WINDOW if self._sums_by_time else 0.0
        recent = [
            sums for time, sums in self._sums_by_time if time >= start and len(sums) == len(self.bodies)
        ]
        return np.max(recent, axis=0) if recent else self.sums

    def histories(self) -> np.ndarray:
        """Return the maximum of ``sums`` in each of `SPARK_WIDTH` intervals (bodies, SPARK_WIDTH) [N].

        The intervals cover the last `HISTORY` seconds, the oldest first.
        """
        histories = np.zeros((len(self.bodies), SPARK_WIDTH))
        for time, sums in self._sums_by_time:
            if len(sums) == len(self.bodies):
                age = (self._sums_by_time[-1][0] - time) / HISTORY
                column = max(0, SPARK_WIDTH - 1 - int(age * SPARK_WIDTH))
                np.maximum(histories[:, column], sums, out=histories[:, column])
        return histories

    @property
    def real_time_factor(self) -> float:
        """Ratio of simulation time to wall time, averaged over `WINDOW`."""
        return self._rate(1)

    @property
    def frame_rate(self) -> float:
        """Skin messages per second of wall time, averaged over `WINDOW`."""
        return self._rate(2)

    def _rate(self, column: int) -> float:
        if len(self._history) < 2 or self._history[-1][0] <= self._history[0][0]:
            return 0.0
        first, last = self._history[0], self._history[-1]
        return (last[column] - first[column]) / (last[0] - first[0])


def forces(counts: np.ndarray, data: np.ndarray, channels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the net force and the total taxel force on each body.

    Args:
        counts: Number of taxels on each body (B,).
        data: Taxel forces [N] as a flat array (counts.sum() * channels,): all taxels of the first body, then
            those of the second, and so on. The channels of a taxel are adjacent.
        channels: Number of force components per taxel.

    Returns:
        Magnitude of the net force (B,) [N], in which opposing forces cancel, and sum of the magnitudes of the
        taxel forces (B,) [N], in which they add up.
    """
    vectors = np.asarray(data, dtype=np.float64).reshape(-1, channels)
    columns = np.column_stack((vectors, np.linalg.norm(vectors, axis=1)))
    running = np.vstack((np.zeros(channels + 1), np.cumsum(columns, axis=0)))
    ends = np.cumsum(counts)
    totals = running[ends] - running[ends - counts]
    return np.linalg.norm(totals[:, :-1], axis=1), totals[:, -1]


STARTING = "starting the node ..."
"""Status text before the first message."""


@dataclass
class View:
    """Formats the live table: title, status, a row for each touched body, and hints."""

    title: str
    weights: Mapping[str, float]
    """Weight of each free body [N], keyed by name."""
    scale: float
    """Force at which a bar is full [N]. Bars are logarithmic, because impacts would hide light touch."""
    hints: Sequence[str] = ()
    """Lines of text to show below the table."""

    def table(self, state: State, height: int, footer: str = "") -> RenderableType:
        """Return the table for a terminal.

        Args:
            state: The data to show.
            height: Maximum number of lines.
            footer: Text of the last line.
        """
        head = [Text(self.title, "bold"), Text(self._status(state))]
        if state.problem:
            head.append(Text(state.problem, "yellow"))
        hints = self.hints if state.has_data else ()
        room = max(1, height - len(head) - len(hints) - bool(footer) - 6)
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("body")
        for heading in HEADINGS:
            table.add_column(heading, justify="right", min_width=len(heading))
        table.add_column(self._bar_heading, width=BAR_WIDTH)
        table.add_column(f"last {HISTORY:g} s", width=SPARK_WIDTH)
        table.add_column("", no_wrap=True)
        order = [i for i in self._order(state) if state.peaks[i] >= TOUCHED]
        histories = state.histories()
        for i in order[:room]:
            name = state.bodies[i]
            bar = Bar(1.0, 0, float(self._levels(state.sums[i])), width=BAR_WIDTH, color="cyan")
            table.add_row(
                Text(name), *self._numbers(state, i), bar, self._spark(histories[i]), self._weight(name)
            )
        parts: list[RenderableType] = [*head, Text(), table]
        if rest := len(order[room:]):
            parts.append(Text(f"... and {counted(rest, 'more body', 'more bodies')}", style="dim"))
        if idle := len(state.bodies) - len(order):
            parts.append(Text(f"{counted(idle, 'body', 'bodies')} without touch", style="dim"))
        parts += [Text(), *(Text(hint, style="dim", overflow="fold") for hint in hints)]
        if footer:
            parts.append(Text(footer))
        return Group(*parts)

    def plain(self, state: State) -> str:
        """Return the table as plain text. It lists the touched bodies, or one body if none is touched."""
        lines = [self._status(state)]
        if state.problem:
            lines.append(f"  {state.problem}")
        width = max(map(len, state.bodies), default=0)
        lines.append("  ".join((" " * (width + 2), *HEADINGS, self._bar_heading)))
        order = self._order(state)
        for i in [i for i in order[:PLAIN_ROWS] if state.sums[i] > 0] or order[:1]:
            name = state.bodies[i]
            numbers = [
                text.rjust(len(title)) for text, title in zip(self._numbers(state, i), HEADINGS, strict=True)
            ]
            bar = "#" * round(float(self._levels(state.sums[i])) * PLAIN_BAR_WIDTH)
            parts = f"  {name:<{width}}", *numbers, bar.ljust(PLAIN_BAR_WIDTH), self._weight(name)
            lines.append("  ".join(parts).rstrip())
        return "\n".join(lines)

    def _numbers(self, state: State, i: int) -> list[str]:
        """Return the cells of body i in the columns `HEADINGS`."""
        return [f"{values[i]:.3f}" for values in (state.net, state.sums, state.peaks)]

    def _spark(self, history: np.ndarray) -> Text:
        """Return a sparkline of forces (SPARK_WIDTH,) [N], on the scale of the bars."""
        heights = np.ceil(self._levels(history) * (len(SPARKS) - 1)).astype(int)
        return Text("".join(SPARKS[height] for height in heights), "cyan")

    def _levels(self, forces: np.ndarray) -> np.ndarray:
        """Return the lengths of bars for forces [N], from 0 to 1, on the scale of the view's colors."""
        return levels(forces, self.scale)

    @property
    def _bar_heading(self) -> str:
        return f"{self.scale / 10**DECADES:g} to {self.scale:g} N, log"

    def _order(self, state: State) -> list[int]:
        """Return the indices of the bodies by decreasing peak.

        Peaks change more slowly than forces, which keeps rows from moving at every message.
        """
        return sorted(range(len(state.bodies)), key=lambda i: (-round(float(state.peaks[i]), 1), i))

    def _weight(self, name: str) -> str:
        return f"weight {self.weights[name]:.3f} N" if name in self.weights else ""

    def _status(self, state: State) -> str:
        if not state.has_data:
            return STARTING
        contacts = "-" if state.contacts is None else state.contacts
        return (
            f"time {state.time or 0.0:.3f} s   "
            f"{'paused' if state.paused else f'real-time factor {state.real_time_factor:.2f}'}   "
            f"contacts {contacts}   tactile/frame {state.frame_rate:.0f} Hz"
        )

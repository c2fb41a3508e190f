"""Plot forces and readings over time.

The plots are SVG instead of viser's ``gui.add_uplot``, because uPlot would connect the points on both sides
of a gap: viser sends float64 arrays, but uPlot breaks a line only at null. After a reset, a pause or a seek,
the line would show forces that were never measured.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from viser import GuiApi

from tactile_sim.figures.colors import DARK, full_scale
from tactile_sim.view.content import ViewFrame, ViewScene

SPAN = 10.0
"""Length of the history in simulation time [s]."""
BINS = 300
"""Number of samples in the history.

Each sample is the maximum over the frames in its time interval, which preserves short impacts.
"""
MAX_GAP = 0.25
"""Largest time between two frames that are connected by a solid line [s]."""


class _Bin:
    def __init__(self, time: float, forces: np.ndarray, starts_segment: bool, is_linked: bool):
        self.time = time
        self.forces = forces.copy()
        self.starts_segment = starts_segment
        self.is_linked = is_linked
        """Whether the motion since the previous sample was continuous, although no frame was drawn."""


class ForceHistory:
    """Stores force magnitudes in segments. Between two segments, the force is unknown.

    Attributes:
        forces: Magnitudes in the last frame (bodies,) [N].
    """

    def __init__(self, bodies: int):
        self.forces = np.zeros(bodies)
        self._time = 0.0
        self._bins: deque[_Bin] = deque()

    def add(self, frame: ViewFrame, forces: np.ndarray) -> None:
        """Add the magnitudes of forces at the time of a view frame, and discard samples with a later time.

        Args:
            frame: View frame that defines the simulation time, and whether a new segment starts.
            forces: Force vectors (bodies, 3) [N]. They are ignored if the number of bodies differs or any
                value is not finite.
        """
        if len(forces) != len(self.forces) or not np.isfinite(forces).all():
            return
        gap = frame.time > self._time + MAX_GAP
        jumps = frame.discontinuous
        while self._bins and self._bins[-1].time > frame.time:
            self._bins.pop()
            jumps = True
        self._time, self.forces = frame.time, np.linalg.norm(forces, axis=1)
        if jumps or gap or not self._bins or self._time >= self._bins[-1].time + SPAN / BINS:
            self._bins.append(_Bin(self._time, self.forces, jumps or gap, gap and not jumps))
        else:
            np.maximum(self._bins[-1].forces, self.forces, out=self._bins[-1].forces)
        while self._bins[0].time < self._time - SPAN:
            self._bins.popleft()

    def segments(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the stored forces as segments without gaps.

        Returns:
            For each segment, the times (k,) relative to the last frame [s], which are <= 0, and the forces
            (k, bodies) [N]. The last segment ends at the last frame.
        """
        kept: list[list[tuple[float, np.ndarray]]] = []
        for each in self._bins:
            if each.starts_segment or not kept:
                kept.append([])
            kept[-1].append((each.time, each.forces))
        if kept and kept[-1][-1][0] < self._time:
            kept[-1].append((self._time, self.forces))
        return [
            (
                np.array([time for time, _ in segment]) - self._time,
                np.array([forces for _, forces in segment]),
            )
            for segment in kept
        ]

    def links(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the ends of the gaps in which no frame was drawn, as `segments`."""
        return [
            (np.array([one.time, two.time]) - self._time, np.array([one.forces, two.forces]))
            for one, two in pairwise(self._bins)
            if two.is_linked
        ]


MAX_LINES = 6
"""Largest number of plotted pads. Those with the largest readings are plotted."""
MIN_AXIS = 2.0
"""Smallest end of the force axis [ends of the taxel scale], so that negligible forces look small."""
COLORS = ("#ffcc1a", "#4dabf7", "#ff6b6b", "#51cf66", "#cc5de8", "#ff922b")
WIDTH, HEIGHT = 300, 135
"""Size of the plot in SVG units of about one pixel."""
LEFT, RIGHT, TOP, BOTTOM = 36, 8, 8, 18
"""Margins for the axis labels in SVG units."""
LINE_WIDTH, DOT_WIDTH = 1.5, 3.0
TICKS = ((-SPAN, f"−{SPAN:g} s"), (-SPAN / 2, f"−{SPAN / 2:g} s"), (0.0, "now"))


class ForcePlot:
    """Stores the readings of all pads over the last seconds and plots the largest.

    Attributes:
        html: The plot in the panel.
    """

    def __init__(self, gui: GuiApi, scene: ViewScene, order: float):
        self._names = scene.pads or tuple(scene.bodies[int(body)] for body in scene.skin_bodies)
        self._lines = list(range(min(MAX_LINES, len(self._names))))
        """Indices of the plotted pads. Each keeps its position and color."""
        self._history = ForceHistory(len(self._names))
        self._unit = "N"
        self._taxel_scale, self._min_axis = scene.taxel_scale, 0.0
        self._axis = 0.0
        """End of the axis, in the unit of the readings."""
        self.html = gui.add_html("", order=order)
        self.draw()

    def add(self, frame: ViewFrame) -> None:
        """Store what the pads read in a view frame."""
        if frame.unit != self._unit:
            self._unit, self._history = frame.unit, ForceHistory(len(self._names))
        self._min_axis = MIN_AXIS * self._taxel_scale if frame.unit == "N" else 0.0
        self._history.add(frame, frame.pad_readings[:, None])

    def draw(self) -> None:
        """Plot the stored readings."""
        segments = self._history.segments()
        largest = np.max(
            [forces.max(axis=0) for _, forces in segments] or [np.zeros(len(self._names))], axis=0
        )
        self._select_lines(largest)
        self._scale_axis(float(largest.max(initial=0.0)))
        current = [(self._names[pad], self._history.forces[pad]) for pad in self._lines]
        plotted, links = (
            [(times, forces[:, self._lines]) for times, forces in parts]
            for parts in (segments, self._history.links())
        )
        title = "force on a pad [N]" if self._unit == "N" else f"largest reading of a pad [{self._unit}]"
        self.html.content = line_plot(title, plotted, self._axis, current, links=links, hud="chart")

    def _select_lines(self, largest: np.ndarray) -> None:
        """Replace a plotted pad if the largest reading of another pad is more than twice as large."""
        for pad in np.argsort(-largest)[:MAX_LINES].tolist():
            smallest = min(self._lines, key=lambda line: largest[line])
            if pad not in self._lines and largest[pad] > 2.0 * largest[smallest]:
                self._lines[self._lines.index(smallest)] = pad

    def _scale_axis(self, largest: float) -> None:
        """Scale the axis in steps of 1, 2 and 5. It shrinks with hysteresis so that it does not flicker."""
        needed = full_scale(max(largest, self._min_axis))
        if needed > self._axis or needed < self._axis / 4.0:
            self._axis = needed


def line_plot(
    title: str,
    segments: list[tuple[np.ndarray, np.ndarray]],
    axis: float,
    current: list[tuple[str, float]],
    buttons: Sequence[str] = (),
    links: Sequence[tuple[np.ndarray, np.ndarray]] = (),
    hud: str = "",
) -> str:
    """Return HTML with a title, a line plot and a legend.

    Args:
        title: Title of the plot.
        segments: As in `plot_svg`.
        axis: As in `plot_svg`.
        current: Name and current value of each line.
        buttons: HTML beside each value; may be empty.
        links: As in `plot_svg`.
        hud: Name of the plot over the scene while the panel is closed; empty to show it in the panel only.
    """
    return (
        f'<div data-hud="{hud}" style="padding: 0 1em 0.6em 1em; font-size: 0.8em">{title}'
        f"{plot_svg(segments, axis, links)}{_key(current, buttons)}</div>"
    )


def plot_svg(
    segments: list[tuple[np.ndarray, np.ndarray]],
    axis: float,
    links: Sequence[tuple[np.ndarray, np.ndarray]] = (),
) -> str:
    """Return a line plot as SVG.

    Args:
        segments: Times (k,) from -`SPAN` to 0 [s] and values (k, lines) from 0 to ``axis`` for each segment.
        axis: End of the value axis: 1, 2 or 5 times a power of ten.
        links: Ends of the gaps that are drawn as dashed lines, as ``segments``.
    """
    lines = [
        f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" stroke="{color}"'
        f' stroke-width="{LINE_WIDTH if len(times) > 1 else DOT_WIDTH}"{style}/>'
        for parts, style in ((segments, ""), (links, ' stroke-dasharray="2 4"'))
        for times, values in parts
        for points, color in zip(_points(times, values, axis), COLORS, strict=False)
    ]
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" style="width: 100%; display: block" font-size="11">'
        f'<g stroke="currentColor" stroke-opacity="0.2">{"".join(_grid(axis))}</g>'
        f'<g fill="currentColor">{"".join(_numbers(axis))}</g>'
        '<g fill="none" stroke-linejoin="round" stroke-linecap="round">'
        f"{''.join(lines)}</g></svg>"
    )


def _points(times: np.ndarray, values: np.ndarray, axis: float) -> Iterator[list[list[float]]]:
    """Yield the points of each line in SVG units. A single point is repeated, which draws a dot."""
    for column in values.T:
        points = np.stack([_x(times), _y(column, axis)], axis=1).tolist()
        yield points if len(points) > 1 else 2 * points


def _levels(axis: float) -> list[float]:
    """Return the values at which grid lines are drawn."""
    count = 5 if f"{axis:e}"[0] == "5" else 4
    return [axis * k / count for k in range(count + 1)]


def _grid(axis: float) -> Iterator[str]:
    for level in _levels(axis):
        y = _y(level, axis)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    for time, _ in TICKS:
        x = _x(time)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'


def _numbers(axis: float) -> Iterator[str]:
    for level in _levels(axis):
        yield f'<text x="{LEFT - 4}" y="{_y(level, axis) + 3.5:.1f}" text-anchor="end">{level:g}</text>'
    for (time, text), anchor in zip(TICKS, ("start", "middle", "end"), strict=True):
        yield f'<text x="{_x(time):.1f}" y="{HEIGHT - 4}" text-anchor="{anchor}">{text}</text>'


def _x(times: np.ndarray | float) -> np.ndarray | float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (1.0 + times / SPAN)


def _y(values: np.ndarray | float, axis: float) -> np.ndarray | float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - values / axis)


def _key(current: list[tuple[str, float]], buttons: Sequence[str] = ()) -> str:
    """Return a legend with the names, colors and current values of the lines in two columns."""
    cells = "".join(
        '<div style="display: flex; gap: 0.4em; min-width: 0; align-items: center">'
        f'<div style="width: 0.8em; height: 0.25em; flex: none; background: {color}"></div>'
        f'<div style="overflow: hidden; text-overflow: ellipsis" title="{escape(name)}">'
        f"{escape(name)}</div><b>{force:.3g}</b>{button}</div>"
        for (name, force), color, button in zip(current, COLORS, [*buttons, *[""] * MAX_LINES], strict=False)
    )
    return (
        '<div style="display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);'
        f' column-gap: 1.5em; font-variant-numeric: tabular-nums">{cells}</div>'
    )


NAMED = 5
"""Largest number of bodies that are plotted. Others are only counted."""
STRIP_WIDTH, STRIP_HEIGHT = 1000.0, 100.0
"""Size of the drawing in SVG units. The page stretches it."""


class ForceStrip(NamedTuple):
    """A force strip as HTML, and what it shows."""

    html: str
    end: float
    """Value at the top of the strip, in the unit of the forces."""
    shown: list[int]
    """Indices of the plotted bodies, in the order of the legend."""


def force_strip(
    times: Sequence[float] | np.ndarray,
    forces: np.ndarray,
    names: Sequence[str],
    unit: str,
    duration: float,
    channel: str = "",
) -> ForceStrip:
    """Draw a force strip.

    Args:
        times: Times since the start of the recording (n,) [s].
        forces: Magnitude of the force on each body or largest reading on each body (n, b), in ``unit``.
        names: Names of the bodies (b,).
        unit: Unit of the forces; empty if unknown.
        duration: Length of the recording [s].
        channel: Id of the panel input that receives the times at which users click, if any.
    """
    duration = max(duration, 1e-9)
    peaks = forces.max(axis=0)
    order = np.argsort(-peaks, kind="stable")
    shown = [int(body) for body in order[:NAMED] if peaks[body] > 0.0]
    end = full_scale(float(peaks.max(initial=0.0)) / 1.2)
    x = STRIP_WIDTH * np.asarray(times) / duration
    lines, legend = [], []
    for body, color in zip(shown, DARK.lines, strict=False):
        y = STRIP_HEIGHT * (1.0 - forces[:, body] / end)
        points = " ".join(f"{a:.1f},{b:.2f}" for a, b in zip(x, y, strict=True))
        lines.append(f'<polyline points="{points}" stroke="{color}"/>')
        legend.append(
            f'<span><i style="background: {color}"></i>{escape(names[body])} <output></output></span>'
        )
    others = int((peaks > 0.0).sum()) - len(shown)
    if others:
        legend.append(f"<span>{others} weaker not shown</span>")
    label = f"force [{escape(unit)}]" if unit else "reading"
    html = (
        f'<div id="force-strip" data-channel="{channel}">'
        f'<div class="legend"><b>{label}</b>{"".join(legend)}</div>'
        f'<div class="plot"><svg viewBox="0 0 {STRIP_WIDTH:g} {STRIP_HEIGHT:g}" preserveAspectRatio="none">'
        f"{''.join(lines)}</svg><em>{end:g}</em><em>{duration:.2f}&nbsp;s</em>"
        '<div class="cursor"></div></div></div>'
    )
    return ForceStrip(html, end, shown)

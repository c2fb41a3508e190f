"""A plot of the force on each body over the last seconds.

Drawn here as a picture of lines: the plots that viser brings join lines over what is not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np
from viser import GuiApi

from tactile_sim.drawing.force_scale import full_scale
from tactile_sim.view.force_history import SPAN, ForceHistory
from tactile_sim.view.world import Moment, World

LINES = 6
"""Bodies with lines of their own, those that feel most."""
LEAST = 2.0
"""The axis reaches at least so far, in ends of the taxels' scale: what is next to nothing looks like that."""
COLORS = ("#ffcc1a", "#4dabf7", "#ff6b6b", "#51cf66", "#cc5de8", "#ff922b")
WIDTH, HEIGHT = 300, 135
"""Of the picture, in units that are about a pixel each."""
LEFT, RIGHT, TOP, BOTTOM = 36, 8, 8, 18
"""Margins, with room for numbers."""
LINE, DOT = 1.5, 3.0
TICKS = ((-SPAN, f"−{SPAN:g} s"), (-SPAN / 2, f"−{SPAN / 2:g} s"), (0.0, "now"))


class ForcePlot:
    """Keeps the forces of the last seconds and plots the largest. ``picture``: that in the panel."""

    def __init__(self, gui: GuiApi, world: World):
        self._names = [world.bodies[int(body)] for body in world.skin_bodies]
        self._lines = list(range(min(LINES, len(self._names))))
        """Which of the bodies with skin are drawn, each in a place and colour of its own."""
        self._history = ForceHistory(len(self._names))
        self._least = LEAST * world.taxel_scale
        self._top = 0.0
        self.picture = gui.add_html("")
        self.draw()

    def add(self, moment: Moment) -> None:
        """Keeps the forces of a moment."""
        self._history.add(moment)

    def draw(self) -> None:
        """Plots what is kept."""
        runs = self._history.runs()
        largest = np.max([forces.max(axis=0) for _, forces in runs] or [np.zeros(len(self._names))], axis=0)
        self._choose(largest)
        self._stretch(float(largest.max(initial=0.0)))
        present = [(self._names[body], self._history.forces[body]) for body in self._lines]
        chosen = [(times, forces[:, self._lines]) for times, forces in runs]
        self.picture.content = (
            '<div style="padding: 0 1em 0.6em 1em; font-size: 0.8em">net force on a body [N]'
            f"{curves(chosen, self._top)}{_key(present)}</div>"
        )

    def _choose(self, largest: np.ndarray) -> None:
        """A body that feels twice what the least of those drawn feels takes its place."""
        for body in np.argsort(-largest)[:LINES].tolist():
            least = min(self._lines, key=lambda line: largest[line])
            if body not in self._lines and largest[body] > 2.0 * largest[least]:
                self._lines[self._lines.index(least)] = body

    def _stretch(self, largest: float) -> None:
        """The axis changes in steps of 1, 2 and 5, and shrinks late, so that it does not flicker."""
        needed = full_scale(max(largest, self._least))
        if needed > self._top or needed < self._top / 4.0:
            self._top = needed


def curves(runs: list[tuple[np.ndarray, np.ndarray]], top: float) -> str:
    """A picture as SVG.

    runs: of each the times (k,) from -`SPAN` to 0 [s], and the values (k, lines) from 0 to ``top``, which is
    1, 2 or 5 times a power of ten.
    """
    lines = [
        f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" stroke="{color}"'
        f' stroke-width="{LINE if len(times) > 1 else DOT}"/>'
        for times, values in runs
        for points, color in zip(_placed(times, values, top), COLORS, strict=False)
    ]
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" style="width: 100%; display: block" font-size="11">'
        f'<g stroke="currentColor" stroke-opacity="0.2">{"".join(_grid(top))}</g>'
        f'<g fill="currentColor">{"".join(_numbers(top))}</g>'
        '<g fill="none" stroke-linejoin="round" stroke-linecap="round">'
        f"{''.join(lines)}</g></svg>"
    )


def _placed(times: np.ndarray, values: np.ndarray, top: float) -> Iterator[list[list[float]]]:
    """Of each line the points in the picture; a single one twice, for it to be seen as a dot."""
    for column in values.T:
        points = np.stack([_x(times), _y(column, top)], axis=1).tolist()
        yield points if len(points) > 1 else 2 * points


def _levels(top: float) -> list[float]:
    """Where the axis has its numbers."""
    count = 5 if f"{top:e}"[0] == "5" else 4
    return [top * k / count for k in range(count + 1)]


def _grid(top: float) -> Iterator[str]:
    for level in _levels(top):
        y = _y(level, top)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    for time, _ in TICKS:
        x = _x(time)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'


def _numbers(top: float) -> Iterator[str]:
    for level in _levels(top):
        yield f'<text x="{LEFT - 4}" y="{_y(level, top) + 3.5:.1f}" text-anchor="end">{level:g}</text>'
    for (time, text), anchor in zip(TICKS, ("start", "middle", "end"), strict=True):
        yield f'<text x="{_x(time):.1f}" y="{HEIGHT - 4}" text-anchor="{anchor}">{text}</text>'


def _x(times: np.ndarray | float) -> np.ndarray | float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (1.0 + times / SPAN)


def _y(values: np.ndarray | float, top: float) -> np.ndarray | float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - values / top)


def _key(present: list[tuple[str, float]]) -> str:
    """Which line is whose, and what each feels now; two beside each other."""
    cells = "".join(
        '<div style="display: flex; gap: 0.4em; min-width: 0; align-items: center">'
        f'<div style="width: 0.8em; height: 0.25em; flex: none; background: {color}"></div>'
        f'<div style="overflow: hidden; text-overflow: ellipsis" title="{escape(name)}">'
        f"{escape(name)}</div><b>{force:.3g}</b></div>"
        for (name, force), color in zip(present, COLORS, strict=False)
    )
    return (
        '<div style="display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);'
        f' column-gap: 1.5em; font-variant-numeric: tabular-nums">{cells}</div>'
    )

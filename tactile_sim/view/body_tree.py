"""The tree in the panel with which users hide and select bodies and pads."""

from __future__ import annotations

import time
from asyncio import to_thread
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from threading import RLock
from typing import NamedTuple

import numpy as np
from viser import ClientHandle, GuiEvent, GuiFolderHandle, LineSegmentsHandle, ViserServer

from tactile_sim.figures.colors import quantity
from tactile_sim.view.camera import Cameras
from tactile_sim.view.content import ViewFrame, ViewScene
from tactile_sim.view.markers import ForceMarkers
from tactile_sim.view.probe import Probe
from tactile_sim.view.scene import BrowserScene
from tactile_sim.view.viser_internals import uuid_of

MAX_OPEN = 14
"""Largest number of rows that are initially visible. Deeper levels are folded."""


@dataclass(eq=False)
class Row:
    """A row of the tree, which shows a body or a pad.

    Attributes:
        name: Name of the body or pad.
        pads: For a body, the indices of the pads on the body itself; for a pad, its index.
        children: Rows below this one.
        taxels: Number of taxels on ``pads``.
    """

    name: str
    pads: list[int] = field(default_factory=list)
    children: list[Row] = field(default_factory=list)
    taxels: int = 0

    @property
    def all_pads(self) -> list[int]:
        """Indices of all pads in this row and below it, sorted and without duplicates."""
        below = [pad for child in self.children for pad in child.all_pads]
        return sorted({*self.pads, *below})

    @property
    def chosen_pads(self) -> list[int]:
        """Pads selected with this row: those on the body itself, or all pads below if it has none."""
        return self.pads or self.all_pads


def tree_rows(scene: ViewScene) -> list[Row]:
    """Return the top-level rows of a scene.

    A body without skin has a row only if several rows are directly below it. A root, such as the world, has a
    row only if it has skin.
    """
    pads: dict[int, list[int]] = {}
    for pad, body in enumerate(np.asarray(scene.skin_bodies, int).tolist()):
        pads.setdefault(body, []).append(pad)
    count = len(scene.bodies)
    parents = np.asarray(scene.parents, int).tolist() if len(scene.parents) == count else list(range(count))
    children: dict[int, list[int]] = {}
    for body, parent in enumerate(parents):
        if parent != body:
            children.setdefault(parent, []).append(body)
    passed: set[int] = set()

    def rows(body: int) -> list[Row]:
        if body in passed:  # the frames of a corrupt bag can form loops
            return []
        passed.add(body)
        below = [row for child in children.get(body, []) for row in rows(child)]
        if body not in pads and (len(below) < 2 or parents[body] == body):
            return below
        return [_body_row(scene, body, pads.get(body, []), below)]

    roots = [body for body in range(count) if parents[body] == body]
    return [row for body in [*roots, *range(count)] for row in rows(body)]


def _body_row(scene: ViewScene, body: int, pads: Sequence[int], below: list[Row]) -> Row:
    """Return the row of a body. If the body has several pads, each pad has a separate row."""
    name, sizes = scene.bodies[body], np.asarray(scene.taxel_counts, int)
    own = [Row(scene.pads[pad], [pad], [], int(sizes[pad])) for pad in pads]
    if len(own) == 1 and scene.pads[pads[0]] not in (name, name.rpartition("/")[2]):
        name = f"{name}: {scene.pads[pads[0]]}"
    return Row(name, list(pads), [*(own if len(own) > 1 else []), *below], int(sizes[list(pads)].sum()))


def flat(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield rows and all rows below them, in the order in which the tree lists them."""
    for row in rows:
        yield row
        yield from flat(row.children)


def tree_html(rows: Sequence[Row], channel: str) -> str:
    """Return the tree as HTML, which static/tree.js handles."""
    numbers = {id(row): k for k, row in enumerate(flat(rows))}
    opened, has_levels = _initially_open(rows), any(row.children for row in rows)

    def listed(rows: Sequence[Row]) -> str:
        return "".join(item(row) for row in rows)

    def item(row: Row) -> str:
        name, is_open = escape(row.name, quote=True), id(row) in opened
        fold = '<span class="fold"></span>' if has_levels else ""
        below = ""
        if row.children:
            fold = (
                f'<button type="button" class="fold" aria-expanded="{str(is_open).lower()}"'
                f' aria-label="parts of {name}"></button>'
            )
            below = f"<ul{'' if is_open else ' hidden'}>{listed(row.children)}</ul>"
        count = f'<span class="count" title="taxels">{row.taxels}</span>' if row.taxels else ""
        return (
            f'<li data-name="{name.lower()}"><div>{fold}'
            f'<input type="checkbox" checked data-row="{numbers[id(row)]}" aria-label="show {name}">'
            f'<button type="button" class="name" aria-pressed="false" data-row="{numbers[id(row)]}"'
            f' title="{name}">{name}</button>{count}</div>{below}</li>'
        )

    search = (
        '<input type="search" class="filter" placeholder="Filter by name"'
        ' aria-label="Filter bodies and pads by name">'
        if len(numbers) > MAX_OPEN
        else ""
    )
    return f'<div class="view-tree" data-channel="{channel}">{search}<ul>{listed(rows)}</ul></div>'


def _initially_open(rows: Sequence[Row]) -> set[int]:
    """Return the Python ids of the rows that are initially open.

    Levels are opened from the top as long as at most `MAX_OPEN` rows are visible.
    """
    opened: set[int] = set()
    visible, level = len(rows), list(rows)
    while level:
        below = [child for row in level for child in row.children]
        if visible + len(below) > MAX_OPEN:
            break
        opened |= {id(row) for row in level}
        visible, level = visible + len(below), below
    return opened


OUTLINE = (255, 150, 255)
"""Color of the box around selected pads. No other element has this color."""
OUTLINE_MARGIN = 0.5
"""Distance between a box and the taxels in it [spacings]."""
NEAREST = 0.8
"""Smallest distance from the camera to the selection [radii of the viewpoint]."""
HINT = "A click on a name looks at the body and shows its readings."
"""Text that is shown while nothing is selected."""
REFRESH = 0.1
"""Wall time between two updates of the readings of the selection [s]."""
_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
_EDGES = np.array([(a, b) for a in range(8) for b in range(a) if (_CORNERS[a] != _CORNERS[b]).sum() == 1])


class TreeParts(NamedTuple):
    """Parts of the view that the tree hides, shows or moves."""

    scene: BrowserScene
    markers: ForceMarkers
    cameras: Cameras
    probe: Probe


class BodyTree:
    """Shows a tree of bodies and pads, in which users can hide pads and select one row at a time.

    All browsers share this state.
    """

    def __init__(self, server: ViserServer, folder: GuiFolderHandle, scene: ViewScene, parts: TreeParts):
        top = tree_rows(scene)
        self._server, self._scene, self._parts = server, scene, parts
        self._rows = list(flat(top))
        self._shown = np.ones(len(scene.skin_bodies), bool)
        self._selected: Row | None = None
        self._outlines: list[LineSegmentsHandle] = []
        self._stops = np.cumsum(scene.taxel_counts).astype(int)
        self._frame: ViewFrame | None = None
        self._due = 0.0
        self._lock = RLock()
        # The script in the page sends user actions through this input.
        self._channel = server.gui.add_text("bodies and pads", "", visible=False)
        self._channel.on_update(self._on_message)
        bodies = len(set(np.asarray(scene.skin_bodies, int).tolist()))
        pads = len(self._shown)
        title = f"bodies ({bodies})" if bodies == pads else f"bodies and pads ({pads})"
        with folder:
            server.gui.add_html(f'<div style="padding: 0 0.6em; font-size: 0.85em">{title}</div>')
            server.gui.add_html(tree_html(top, uuid_of(self._channel)))
            self._state = server.gui.add_html(self._state_html())

    def draw(self, frame: ViewFrame) -> None:
        """Show the readings of the selection, at most once per `REFRESH` except in paused frames."""
        with self._lock:
            self._frame = frame
            now = time.monotonic()
            if self._selected and (frame.paused or now >= self._due):
                self._due = now + REFRESH
                self._state.content = self._state_html()

    def show(self, row: Row, shown: bool) -> None:
        """Show or hide all pads in a row and below it.

        If all pads on a body are hidden, its feelers and force markers are also hidden.
        """
        self._shown = self._shown.copy()
        self._shown[row.all_pads] = shown
        parts, bodies = self._parts, np.asarray(self._scene.skin_bodies, int)
        hidden = sorted(set(bodies.tolist()) - set(bodies[self._shown].tolist()))
        parts.scene.skin.set_shown(self._shown)
        parts.scene.feelers.set_hidden(hidden)
        parts.markers.set_hidden(hidden)
        parts.probe.set_shown(self._shown)

    def select(self, row: Row | None) -> None:
        """Outline the pads of a row and show their readings, or end the selection."""
        for outline in self._outlines:
            outline.remove()
        self._selected = row
        self._outlines = [self._add_outline(pad) for pad in row.chosen_pads] if row else []

    async def _on_message(self, event: GuiEvent) -> None:  # async callbacks run in order
        await to_thread(self._act, event.target.value, event.client)

    def _act(self, message: str, client: ClientHandle | None) -> None:
        """Handle a message ``COUNT ACTION ROW``, where the action is ``show``, ``hide`` or ``select``."""
        words = message.split()
        numbers = {str(k): row for k, row in enumerate(self._rows)}
        if len(words) != 3 or words[2] not in numbers:
            return
        row = numbers[words[2]]
        with self._lock:
            if words[1] in ("show", "hide"):
                self.show(row, words[1] == "show")
            elif words[1] == "select":
                self.select(None if row is self._selected else row)
                if self._selected and client is not None:
                    self._parts.cameras.look_at(client, self._taxels(row), NEAREST)
            self._state.content = self._state_html()

    def _part(self, pad: int) -> slice:
        return slice(int(self._stops[pad]) - int(self._scene.taxel_counts[pad]), int(self._stops[pad]))

    def _taxels(self, row: Row) -> np.ndarray:
        """Return a mask (n,) of the taxels that are selected with a row."""
        mask = np.zeros(len(self._scene.taxel_positions), bool)
        for pad in row.chosen_pads:
            mask[self._part(pad)] = True
        return mask

    def _add_outline(self, pad: int) -> LineSegmentsHandle:
        """Draw a box around the taxels of a pad, in the frame of its body."""
        scene = self._scene
        points, margin = scene.taxel_positions[self._part(pad)], OUTLINE_MARGIN * scene.taxel_spacings[pad]
        low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
        return self._server.scene.add_line_segments(
            f"{self._parts.scene.frames[int(scene.skin_bodies[pad])].name}/outline_{pad}",
            (low + _CORNERS * (high - low))[_EDGES],
            OUTLINE,
            thickness=2.0,
            thickness_units="screen",
        )

    def _state_html(self) -> str:
        """Return HTML with the states of all rows, for the script, and the readings of the selected row."""
        states = []
        for row in self._rows:
            shown = self._shown[row.all_pads]
            states.append("1" if shown.all() else "m" if shown.any() else "0")
        selected = self._selected
        number = self._rows.index(selected) if selected else ""
        return (
            f'<div class="view-tree-state" data-shown="{"".join(states)}" data-selected="{number}">'
            f"{self._readings(selected) if selected else HINT}</div>"
        )

    def _readings(self, row: Row) -> str:
        """Return the readings and the net force of a row as HTML."""
        chosen = self._taxels(row)
        title = f"<b>{escape(row.name)}</b>: "
        frame = self._frame
        if frame is None or len(frame.readings) != len(chosen):
            return f"{title}{chosen.sum()} taxels"
        readings = np.nan_to_num(frame.readings[chosen])
        text = f"{title}{(readings > 0.0).sum()} of {chosen.sum()} taxels above 0"
        if readings.any():
            text += f"; largest {escape(quantity(readings.max(), frame.unit))}"
        pads = {int(self._scene.skin_bodies[pad]): pad for pad in row.chosen_pads}
        if len(frame.forces) and len(pads) == 1:
            force = float(np.linalg.norm(frame.forces[next(iter(pads.values()))]))
            text += f"; net force on the body {quantity(force, 'N')}"
        return text

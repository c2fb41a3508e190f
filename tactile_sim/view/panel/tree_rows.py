"""The rows of the tree of bodies and pads, and their HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from tactile_sim.view.content import ViewScene

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
    """Return the tree as HTML, which `tactile_sim.view.web.tree_script` handles.

    Args:
        rows: The top-level rows.
        channel: Id of the HTML input element through which the script reports user actions.
    """
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

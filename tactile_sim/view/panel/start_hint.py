"""A box that explains why time does not advance at the start; see also `tactile_sim.view.web.hint_script`."""

from __future__ import annotations

import math
from html import escape

from viser import GuiApi

from tactile_sim.view.content import ViewFrame
from tactile_sim.view.web.hint_script import HINT_ATTRIBUTE, HINT_STYLE

STYLE = f"margin: 0 1em 0.6em 1em; {HINT_STYLE}"


class StartHint:
    """Shows hints until time has advanced while the simulation was not paused."""

    def __init__(self, gui: GuiApi, hints: tuple[str, ...], order: float):
        """Add the box to the panel.

        Args:
            gui: viser's panel.
            hints: Sentences to show, each in a line of its own; may be empty.
            order: Position in the panel.
        """
        lines = "".join(f"<div>{escape(hint)}</div>" for hint in hints)
        self._box = gui.add_html(
            f'<div role="note" {HINT_ATTRIBUTE} style="{STYLE}">{lines}</div>',
            visible=bool(hints),
            order=order,
        )
        self._start = math.inf

    def draw(self, frame: ViewFrame) -> None:
        """Hide the box when time advances."""
        self._start = min(self._start, frame.time)
        if not frame.paused and frame.time > self._start:
            self._box.visible = False

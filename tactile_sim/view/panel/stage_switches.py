"""Switches in the panel for the stages of the signal chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from viser import GuiApi, GuiCheckboxHandle

from tactile_sim.view.content import StageSwitch, ViewScene
from tactile_sim.view.controls import Controls
from tactile_sim.view.panel.user_input import on_user

MAX_NAMES = 3
"""Largest number of pads that are named in the title of a subfolder."""


class StageSwitches:
    """A folder with a checkbox for each stage of the signal chain.

    Pads with the same stages share their checkboxes. If there are several such groups of pads, each group has
    a subfolder with its checkboxes.
    """

    def __init__(self, gui: GuiApi, scene: ViewScene, controls: Controls):
        self._values = np.zeros(0, bool)
        self._boxes: list[tuple[GuiCheckboxHandle, list[int], str, Callable[[bool], object]]] = []
        """Each checkbox, with the indices of its switches in ``scene.stages``, its label and its setter."""
        lists = _lists(scene.stages)
        with gui.add_folder("Sensor stages", expand_by_default=False):
            for pads, rows in lists:
                if len(lists) == 1:
                    self._add(gui, scene, controls, rows)
                else:
                    with gui.add_folder(_title(pads), expand_by_default=len(lists) <= MAX_NAMES):
                        self._add(gui, scene, controls, rows)

    def _add(self, gui: GuiApi, scene: ViewScene, controls: Controls, rows: Sequence[Sequence[int]]) -> None:
        """Add the checkboxes for one group of pads.

        Args:
            gui: viser's panel.
            scene: Constant content of the view, with the switches of all stages.
            controls: Receives the requests.
            rows: For each checkbox, the indices into ``scene.stages`` of the switches that it sets.
        """
        for switches in rows:
            first = scene.stages[switches[0]]
            label = first.stage.replace("_", " ")
            box = gui.add_checkbox(label, True, hint=first.description)

            def ask(enabled: bool, switches: Sequence[int] = switches) -> None:
                self._values = np.zeros(0, bool)  # the next frame shows whether the request was accepted
                for switch in switches:
                    controls.ask("set_switch", scene.stages[switch].parameter, enabled)

            self._boxes.append((box, list(switches), label, on_user(box, ask)))

    def draw(self, enabled: np.ndarray) -> None:
        """Show which stages are on.

        Args:
            enabled: Whether each of ``scene.stages`` is on; if empty, nothing changes.
        """
        if not len(enabled) or np.array_equal(enabled, self._values):
            return
        self._values = enabled
        for box, switches, label, put in self._boxes:
            on = int(enabled[switches].sum())
            mixed = 0 < on < len(switches)
            box.label = f"{label} ({on} of {len(switches)})" if mixed else label
            put(on == len(switches))


def _lists(stages: Sequence[StageSwitch]) -> list[tuple[list[str], list[list[int]]]]:
    """Group the pads that have the same stages.

    Returns:
        A tuple for each group: the names of its pads and, for each stage, the indices into ``stages`` of all
        switches of this stage in the group.
    """
    entries: dict[tuple[str, ...], list[int]] = {}
    for k, switch in enumerate(stages):
        if switch.pads:
            entries.setdefault(switch.pads, []).append(k)
    lists: dict[tuple[tuple[str, str], ...], list[tuple[tuple[str, ...], list[int]]]] = {}
    for pads, own in entries.items():
        content = tuple((stages[k].stage, stages[k].description) for k in own)
        lists.setdefault(content, []).append((pads, own))
    return [
        (
            [pad for pads, _ in equal for pad in pads],
            [list(row) for row in zip(*(own for _, own in equal), strict=True)],
        )
        for equal in lists.values()
    ]


def _title(pads: Sequence[str]) -> str:
    more = f" and {len(pads) - MAX_NAMES} more" if len(pads) > MAX_NAMES else ""
    return ", ".join(pads[:MAX_NAMES]) + more

"""What of the scene is seen: inputs in the panel."""

from __future__ import annotations

from viser import GuiApi

from tactile_sim.view.asked import on_user
from tactile_sim.view.feeler_lines import CHOICES
from tactile_sim.view.force_marks import ForceMarks
from tactile_sim.view.scene import Scene
from tactile_sim.view.world import World

ARROWS = "Of a contact: normal green, first tangent red, second tangent blue. Of a body: their sum, yellow."
THROUGH, REST = -36.0, -35.0
"""The order in the panel: below the legend."""


class Layers:
    """Inputs for all that can be hidden, and one that lets bodies be seen through."""

    def __init__(self, gui: GuiApi, world: World, scene: Scene, marks: ForceMarks):
        through = gui.add_checkbox(
            "transparent", False, hint="What one body covers of another is seen through it.", order=THROUGH
        )
        with gui.add_folder("What is seen", expand_by_default=False, order=REST):
            taxels = gui.add_checkbox("taxels", True, visible=len(world.taxel_positions) > 0)
            arrows = gui.add_checkbox("force arrows", True, hint=ARROWS)
            contacts = gui.add_checkbox("contact points", True, hint="White.")
            feelers = gui.add_dropdown("feelers", CHOICES, visible=len(world.feeler_positions) > 0)
        on_user(through, scene.see_through)
        on_user(taxels, scene.show_taxels)
        on_user(feelers, scene.feelers.show)
        for box in (arrows, contacts):
            on_user(box, lambda _: marks.show(arrows.value, contacts.value))

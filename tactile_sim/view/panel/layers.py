"""Panel inputs that show and hide layers of the scene."""

from __future__ import annotations

from viser import GuiApi

from tactile_sim.view.content import ViewScene
from tactile_sim.view.panel.keys import add_layer_keys
from tactile_sim.view.panel.legend import Legend
from tactile_sim.view.panel.user_input import on_user
from tactile_sim.view.scene.browser_scene import BrowserScene
from tactile_sim.view.scene.feeler_lines import CHOICES
from tactile_sim.view.scene.force_markers import ForceMarkers

TRANSPARENT_ORDER, FOLDER_ORDER = -36.0, -35.0
"""Positions in the panel, below the legend."""


class Layers:
    """Adds a checkbox for transparent bodies and a folder with an input for each layer."""

    def __init__(
        self,
        gui: GuiApi,
        scene: ViewScene,
        drawn: BrowserScene,
        markers: ForceMarkers,
        legend: Legend | None,
    ):
        """Add the inputs to the panel.

        Args:
            gui: viser's panel.
            scene: Constant content of the view.
            drawn: The bodies, taxels and feelers.
            markers: The arrows and contact points.
            legend: Lists the arrows that are shown; None if there is no legend.
        """

        def on_markers(_: object) -> None:
            markers.set_visible(arrows.value, net.value, points.value)
            if legend:
                legend.set_arrows(arrows.value, net.value)

        transparent = gui.add_checkbox(
            "transparent", False, hint="Shows taxels behind and between bodies.", order=TRANSPARENT_ORDER
        )
        with gui.add_folder("Layers", expand_by_default=False, order=FOLDER_ORDER):
            has_taxels = len(scene.taxel_positions) > 0
            dark = gui.add_checkbox("dark bodies", True, hint="Lets taxels in contact stand out.")
            taxels = gui.add_checkbox("taxels", True, visible=has_taxels)
            dots = gui.add_checkbox("taxels as dots", drawn.skin.as_dots, visible=has_taxels)
            arrows = gui.add_checkbox("force arrows", True, hint="Normal force and friction of each contact.")
            net = gui.add_checkbox("net forces", False, hint="Net force on each body, at its origin.")
            points = gui.add_checkbox("contact points", True, hint="White.")
            feelers = gui.add_dropdown("feelers", CHOICES, visible=len(scene.feeler_positions) > 0)
        transparent.on_update(lambda _: drawn.set_transparent(transparent.value))
        on_user(dark, drawn.set_dark)
        on_user(taxels, drawn.skin.set_visible)
        on_user(dots, drawn.skin.set_dots)
        on_user(feelers, drawn.feelers.select)
        for box in (arrows, net, points):
            box.on_update(on_markers)
        add_layer_keys(gui, transparent, points, arrows)

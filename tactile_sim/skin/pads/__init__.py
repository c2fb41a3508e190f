"""Pads: groups of taxels on one body, which can have the layout, axes and ids of a real sensor."""

from tactile_sim.skin.pads.layout import Layout, grid
from tactile_sim.skin.pads.layout_file import read_layout
from tactile_sim.skin.pads.place import place_body, place_pad
from tactile_sim.skin.pads.plan import PadPlan, PlacedPad, Region

__all__ = [
    "Layout",
    "PadPlan",
    "PlacedPad",
    "Region",
    "grid",
    "place_body",
    "place_pad",
    "read_layout",
]

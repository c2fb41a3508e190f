"""Skins: place taxels on bodies, distribute contact loads over them, and compute their readings."""

from tactile_sim.skin.loads import Loads
from tactile_sim.skin.responses import RESPONSE_FUNCTIONS
from tactile_sim.skin.shares import Near, Shares
from tactile_sim.skin.skin import Skin
from tactile_sim.skin.taxels import PLACEMENTS, Pad
from tactile_sim.skin.touch_functions import TOUCH_FUNCTIONS, TouchFunction

__all__ = [
    "PLACEMENTS",
    "RESPONSE_FUNCTIONS",
    "TOUCH_FUNCTIONS",
    "Loads",
    "Near",
    "Shares",
    "Skin",
    "Pad",
    "TouchFunction",
]

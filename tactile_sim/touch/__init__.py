"""MIMo's touch by its own names: whoever has code for ``mimoTouch.touch`` changes this one import.

A thin face on `tactile_sim.skin`; docs/mimo.md tells where the two differ, and why.
"""

from tactile_sim.touch.base import Touch, scale_linear
from tactile_sim.touch.discrete_touch import DiscreteTouch
from tactile_sim.touch.trimesh_touch import TrimeshTouch

__all__ = ["DiscreteTouch", "TrimeshTouch", "Touch", "scale_linear"]

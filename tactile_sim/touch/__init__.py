"""MIMo's touch classes on top of `tactile_sim.skin`, as a replacement for ``mimoTouch.touch``.

As in MIMo, taxels are called sensors here. docs/mimo.md lists and explains the differences from MIMo.
"""

from tactile_sim.touch.base import Touch, scale_linear
from tactile_sim.touch.discrete_touch import DiscreteTouch
from tactile_sim.touch.trimesh_touch import TrimeshTouch

__all__ = ["DiscreteTouch", "TrimeshTouch", "Touch", "scale_linear"]

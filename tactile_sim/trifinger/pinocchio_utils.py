"""Where programs for ``trifinger_simulation`` look for `Kinematics`, which needs no pinocchio here."""

from tactile_sim.trifinger.robot.kinematics import Kinematics

__all__ = ["Kinematics"]

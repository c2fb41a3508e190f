"""`Kinematics` under its module name in ``trifinger_simulation``. It does not need pinocchio."""

from tactile_sim.trifinger.robot.kinematics import Kinematics

__all__ = ["Kinematics"]

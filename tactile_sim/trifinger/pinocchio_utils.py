"""Export `Kinematics` from the same module as in ``trifinger_simulation``. Pinocchio is not required."""

from tactile_sim.trifinger.robot.kinematics import Kinematics

__all__ = ["Kinematics"]

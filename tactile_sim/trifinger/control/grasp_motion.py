"""Built-in motion in which the fingers grasp the cube, lift it and hold it."""

from __future__ import annotations

from tactile_sim.engines import Engine
from tactile_sim.trifinger.control.grip import Grip
from tactile_sim.trifinger.physics.fingers import FingerPhysics
from tactile_sim.trifinger.robot.files import urdf_file
from tactile_sim.trifinger.robot.kinematics import Kinematics
from tactile_sim.trifinger.robot.spec import tip_link_names
from tactile_sim.trifinger.workspace.objects import get_pose


class GraspMotion:
    """Motion that grasps, lifts and holds the cube with the torques of a `Grip`.

    The grip is planned for the pose of the cube at the start of the motion.
    """

    interval = 0.0

    def __init__(self, finger_type: str, physics: FingerPhysics):
        """Create the motion.

        Args:
            finger_type: Finger type of a robot with three fingers.
            physics: Physics of the robot, with a cube in the scene.
        """
        self._kinematics = Kinematics(urdf_file(finger_type), tip_link_names(finger_type))
        self._physics = physics
        self._grip: Grip | None = None

    def restart(self) -> None:
        """Restart the motion; the next `act` plans a new grip."""
        self._grip = None

    def act(self, engine: Engine) -> None:
        """Set the torques for the current time as the desired action. The first call also plans the grip."""
        physics = self._physics
        if self._grip is None:
            position, orientation = get_pose(engine.model, engine.qpos, "cube")
            self._grip = Grip(self._kinematics, physics.q, position, orientation.tolist())
        physics.rules.rest()
        physics.rules.desired[0] = self._grip.torques(engine.time, physics.q, physics.qd)

"""Built-in motion of the platform: the fingers take the cube, lift it and hold it."""

from __future__ import annotations

from tactile_sim.engines import Engine
from tactile_sim.trifinger.control.grip import Grip
from tactile_sim.trifinger.physics.fingers import FingerPhysics
from tactile_sim.trifinger.robot.files import urdf_file
from tactile_sim.trifinger.robot.kinematics import Kinematics
from tactile_sim.trifinger.robot.spec import tip_link_names
from tactile_sim.trifinger.workspace.objects import get_pose


class GraspMotion:
    """Torques of a `Grip` on the cube where it lies when the motion starts."""

    interval = 0.0

    def __init__(self, finger_type: str, physics: FingerPhysics):
        """finger_type: one with three fingers; physics: theirs, with a cube."""
        self._kinematics = Kinematics(urdf_file(finger_type), tip_link_names(finger_type))
        self._physics = physics
        self._grip: Grip | None = None

    def restart(self) -> None:
        """The cube is where it was at first: it is taken anew."""
        self._grip = None

    def act(self, engine: Engine) -> None:
        """Lets the torques of this instant be desired."""
        physics = self._physics
        if self._grip is None:
            position, orientation = get_pose(physics.model, physics.data, "cube")
            self._grip = Grip(self._kinematics, physics.q, position, orientation.tolist())
        physics.rules.rest()
        physics.rules.desired[0] = self._grip.torques(engine.time, physics.q, physics.qd)

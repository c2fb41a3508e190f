"""Simulation of a robot with one or three fingers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.errors import EngineError
from tactile_sim.trifinger.action import Action
from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.finger_types_data import (
    check_finger_type,
    get_initial_joint_positions,
    get_number_of_fingers,
)
from tactile_sim.trifinger.observation import Observation, push_sensors
from tactile_sim.trifinger.physics.fingers import FingerPhysics
from tactile_sim.trifinger.physics.gains import gains
from tactile_sim.trifinger.physics.rules import MAX_MOTOR_TORQUE
from tactile_sim.trifinger.robot import files
from tactile_sim.trifinger.robot.kinematics import Kinematics
from tactile_sim.trifinger.robot.skin import SPACINGS
from tactile_sim.trifinger.robot.spec import TIME_STEP, link_names, load_spec, tip_link_names
from tactile_sim.trifinger.running import simulations
from tactile_sim.trifinger.running.time_index import check_time_index, check_time_step
from tactile_sim.trifinger.running.view import FingerView
from tactile_sim.trifinger.tactile_finger import TactileFinger
from tactile_sim.trifinger.values import function, limits, numbers
from tactile_sim.trifinger.workspace.objects import int_to_rgba as int_to_rgba  # part of the interface


class SimFinger(TactileFinger):
    """Robot with one or three fingers and a tactile skin.

    Only `append_desired_action` advances time; each call is one time step. Time indices count these steps.

    Attributes:
        finger_type: Finger type of the robot.
        number_of_fingers: 1 or 3.
        time_step_s: Time step [s].
        robot_properties_path: Folder of the robot's files.
        finger_urdf_path: Path of the robot's URDF.
    """

    def __init__(
        self,
        finger_type: str,
        time_step: float = TIME_STEP,
        enable_visualization: bool = False,
        robot_position_offset: Sequence[float] = (0, 0, 0),
        *,
        link_drag: bool = True,
        furnish: Callable[[mujoco.MjSpec], object] | None = None,
        spacings: Mapping[str, float] = SPACINGS,
    ):
        """Create a robot at the initial joint positions of its type.

        Args:
            finger_type: Finger type of the robot; see `finger_types_data.get_valid_finger_types`.
            time_step: Time step [s], at most 1/60. The gains were tuned for 0.001.
            enable_visualization: Whether to show the robot in a browser view and print its URL.
            robot_position_offset: (3,) position of the robot's base in the world [m].
            link_drag: Whether to apply Bullet's drag to links and objects, and to limit joint speeds as in
                Bullet. The gains were tuned with drag and speed limit.
            furnish: Function that adds objects to the scene; called with the spec before it is compiled.
            spacings: Taxel spacing [m] by the link's name without the finger's suffix.

        Raises:
            InvalidValueError: The finger type, the time step, the offset, a link or a spacing is invalid.
            SceneError: The robot's files are not installed.
            CommandError: The browser view cannot be served.
        """
        self.finger_type = check_finger_type(finger_type)
        self.number_of_fingers = get_number_of_fingers(finger_type)
        check_time_step(time_step)
        offset = numbers("robot_position_offset", robot_position_offset, 3)
        self.time_step_s = time_step
        self.link_names = link_names(finger_type)
        """Names of the moving links, finger by finger from base to tip; joints have the same order."""
        self.tip_link_names = tip_link_names(finger_type)
        self.robot_properties_path = files.robot_folder()
        self.finger_urdf_path = str(files.urdf_file(finger_type))
        self.kinematics = Kinematics(self.finger_urdf_path, self.tip_link_names)
        """Kinematics in the frame of the robot's base, without ``robot_position_offset``."""
        spec = load_spec(finger_type, base_position=offset.tolist(), time_step=time_step)
        if furnish is not None:
            function("furnish", furnish)(spec)
        super().__init__(FingerPhysics(spec, finger_type, link_drag=link_drag), spacings)
        self._max_motor_torque = MAX_MOTOR_TORQUE
        self._t = -1
        self._gone: list[str] = []  # bodies to be removed before the next step, see `simulations.join`
        self._view: FingerView | None = None
        self._pybullet_client_id = simulations.register(self)
        self.reset_finger_positions_and_velocities(get_initial_joint_positions(finger_type))
        if enable_visualization:
            self._view = FingerView(self)

    position_gains = gains(0, "position_gains", "(n_joints,) gains kp of the position control [N m/rad].")
    velocity_gains = gains(1, "velocity_gains", "(n_joints,) gains kd of the position control [N m s/rad].")
    safety_kd = gains(
        2, "safety_kd", "(n_joints,) safety damping of the joints, applied to every action [N m s/rad]."
    )

    @property
    def max_motor_torque(self) -> float:
        """Maximum motor torque [N m]: one value for all joints, or (n_joints,)."""
        return self._max_motor_torque

    @max_motor_torque.setter
    def max_motor_torque(self, torque: float) -> None:
        self.physics.rules.gains[3] = limits("max_motor_torque", torque, self.physics.rules.n, least=0.0)
        self._max_motor_torque = torque

    def Action(self, torque: ArrayLike | None = None, position: ArrayLike | None = None) -> Action:
        """Return an action for this robot.

        Args:
            torque: (n_joints,) torques [N m]; 0 by default.
            position: (n_joints,) desired positions [rad]. NaN, the default, disables position control.
        """
        n = self.physics.rules.n
        return Action(
            np.zeros(n) if torque is None else torque, np.full(n, np.nan) if position is None else position
        )

    def append_desired_action(self, action: Any) -> int:
        """Apply an action for one time step. The action is not modified.

        Args:
            action: An `Action`, or an object of a class with the same attributes and constructor.

        Returns:
            Time index of the step.

        Raises:
            InvalidValueError: The action does not match the robot, or a torque is NaN. Time does not advance.
            EngineError: The physics became unstable and the robot must be reset. The step is not
                counted, and the previous action remains the last one.
        """
        if self._gone:
            self.edit_scene(lambda _: None)
        physics = self.physics
        try:
            wanted = action.torque, action.position, action.position_kp, action.position_kd
        except AttributeError:
            raise InvalidValueError(f"action: must be created by Action(), got {action!r}") from None
        rules, before = physics.rules, self._state()
        done = rules.desired, rules.applied.copy()
        rules.desire(*wanted)
        with self.stepping:
            physics.step()
        try:
            physics.check()
        except EngineError:  # keep the previous action as the last one
            rules.desired, rules.applied[:] = done
            raise
        self._action_type, self._before = type(action), before
        self._t += 1
        return self._t

    def get_observation(self, t: int) -> Observation:
        """Return the observed state at the beginning of the step with time index ``t``.

        Args:
            t: Index of the last step, or the next index to get the current state.

        Raises:
            InvalidValueError: ``t`` has any other value.
        """
        check_time_index(t, self._t, upcoming=True)
        return self._observe(*(self._before if t == self._t else self._state()))

    def get_desired_action(self, t: int) -> Any:
        """Return the action of the last step, as it was passed to `append_desired_action`.

        Args:
            t: Index of the last step.

        Raises:
            InvalidValueError: ``t`` has any other value.
        """
        check_time_index(t, self._t)
        return self._make_action(*self.physics.rules.desired)

    def get_applied_action(self, t: int) -> Any:
        """Return an action that contains the motor torques and gains that were applied in the last step.

        Args:
            t: Index of the last step.

        Raises:
            InvalidValueError: ``t`` has any other value.
        """
        check_time_index(t, self._t)
        torque, kp, kd = self.physics.rules.applied
        return self._make_action(torque, self.physics.rules.desired[1], kp, kd)

    def get_timestamp_ms(self, t: int) -> float:
        """Return the time [ms] at the beginning of the step with time index ``t``.

        The first step begins at 0 ms.

        Args:
            t: Index of the last step, or the next index.

        Raises:
            InvalidValueError: ``t`` has any other value.
        """
        check_time_index(t, self._t, upcoming=True)
        return self.time_step_s * 1000 * t

    def get_current_timeindex(self) -> int:
        """Return the time index of the last step.

        Raises:
            InvalidValueError: No step has been taken yet.
        """
        if self._t < 0:
            raise InvalidValueError("time index: not available before the first action")
        return self._t

    def reset_finger_positions_and_velocities(
        self, joint_positions: ArrayLike, joint_velocities: ArrayLike | None = None
    ) -> Observation:
        """Set the positions and velocities of the joints. Objects and the time index do not change.

        Args:
            joint_positions: (n_joints,) positions [rad].
            joint_velocities: (n_joints,) velocities [rad/s]; 0 by default.

        Returns:
            Observation of the new state.

        Raises:
            InvalidValueError: The arrays have the wrong shape or are not finite.
        """
        n = self.physics.rules.n
        positions = numbers("joint_positions", joint_positions, n)
        given = np.zeros(n) if joint_velocities is None else joint_velocities
        velocities = numbers("joint_velocities", given, n)
        with self.stepping:
            self.physics.set(positions, velocities)
        return self._observe(*self._state())

    def edit_scene(self, edit: Callable[[mujoco.MjSpec], object]) -> None:
        """Add objects to the scene or remove them. Everything else keeps its state.

        Edits replace ``physics.spec``, ``physics.model`` and ``physics.data`` with new objects. The skin is
        discarded and created again at its next use. An open browser view shows the edited scene. If the edit
        changes bodies with skin, the view is replaced by a new one, which prints its URL.

        Args:
            edit: Function that edits a copy of the spec.

        Raises:
            SceneError: The edited scene is invalid. Nothing changes.
        """

        def change(spec: mujoco.MjSpec) -> None:
            for name in self._gone:
                if (body := spec.body(name)) is not None:
                    spec.delete(body)
            edit(spec)

        function("edit", edit)
        with self.stepping:
            self.physics.edit(change)
            self._gone.clear()
            self.forget_skin()
            shown = self._view is None or self._view.follow_edit(self)
        if not shown:
            self.close()
            self._view = FingerView(self)

    def close(self) -> None:
        """Close the browser view if it is open. The view also closes when the robot is garbage collected."""
        if self._view is not None:
            self._view.close()
            self._view = None

    def _make_action(self, torque: np.ndarray, position: np.ndarray, kp: np.ndarray, kd: np.ndarray) -> Any:
        action = self._action_type(torque.copy(), position.copy())
        action.position_kp, action.position_kd = kp.copy(), kd.copy()
        return action

    def _state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return copies of joint positions, joint velocities and normal forces on the tips."""
        physics = self.physics
        return physics.q.copy(), physics.qd.copy(), physics.tip_normal_forces.copy()

    def _observe(self, position: np.ndarray, velocity: np.ndarray, tip_forces: np.ndarray) -> Observation:
        observation = Observation()
        observation.position, observation.velocity = position, velocity
        observation.torque = self.physics.torque.copy()
        observation.tip_force = push_sensors(self.finger_type, tip_forces)
        return observation

"""One or three fingers that do what they are told, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.engines.contacts import Contacts, read_contacts
from tactile_sim.errors import EngineError
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Skin
from tactile_sim.skin.taxels import choose
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
from tactile_sim.trifinger.robot.skin import SPACINGS, check_spacings, make_skin
from tactile_sim.trifinger.robot.spec import TIME_STEP, link_names, load_spec, tip_link_names
from tactile_sim.trifinger.running import simulations
from tactile_sim.trifinger.running.time_index import check_time_index
from tactile_sim.trifinger.running.view import FingerView
from tactile_sim.trifinger.values import limits, numbers
from tactile_sim.trifinger.workspace.objects import int_to_rgba as int_to_rgba  # which programs look for here

MAX_TIME_STEP = 1 / 60
"""[s], as in the peer: beyond it no gains hold."""


class SimFinger:
    """A robot with one or three fingers; what it feels, too.

    Time stands still but for `append_desired_action`, which goes one time step on. Time indices count these.
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
        """At the start positions of its type.

        Args:
            finger_type: ``trifingerpro``, ...; `finger_types_data.get_valid_finger_types` lists them.
            time_step: [s], at most 1/60; the gains are made for 0.001.
            enable_visualization: shows the robot in the browser; the address is printed.
            robot_position_offset: (3,) of the robot's base in the world [m].
            link_drag: whether links, and things in the world, feel Bullet's drag; gains that were tuned there
                count on it.
            furnish: adds things to the world; called with the spec before it is compiled.
            spacings: between taxels [m], by the link's name without the finger's number.

        Raises:
            ValueError: there is no such type, time step, offset, link or spacing.
            SceneError: the robot's files are not installed; the line that installs them.
            CommandError: nothing can be shown in the browser.
        """
        self.finger_type = check_finger_type(finger_type)
        self.number_of_fingers = get_number_of_fingers(finger_type)
        if isinstance(time_step, bool) or not 0 < numbers("time_step", time_step) <= MAX_TIME_STEP:
            raise InvalidValueError(f"time_step is {time_step}; give seconds above 0, at most 1/60")
        offset = numbers("robot_position_offset", robot_position_offset, 3)
        self.time_step_s = time_step
        self.link_names = link_names(finger_type)
        """Of the moving links, finger by finger from the base outwards; joints have the same order."""
        self.tip_link_names = tip_link_names(finger_type)
        self.robot_properties_path = files.robot_folder()
        self.finger_urdf_path = str(files.urdf_file(finger_type))
        self.kinematics = Kinematics(self.finger_urdf_path, self.tip_link_names)
        """In the frame of the robot's base, ``robot_position_offset`` left out."""
        spec = load_spec(finger_type, base_position=offset.tolist(), time_step=time_step)
        if furnish is not None:
            furnish(spec)
        self.physics = FingerPhysics(spec, finger_type, link_drag=link_drag)
        """The MuJoCo side of it: ``spec``, ``model``, ``data`` and the forces of a step."""
        self._max_motor_torque = MAX_MOTOR_TORQUE
        self._spacings = check_spacings(spacings)
        self._skin: Skin | None = None
        self._t = -1
        self.stepping = RLock()
        """Held while the state changes or is felt: for who looks from another thread."""
        self._gone: list[str] = []  # bodies to be taken away before the next step, see `simulations.join`
        self._view: FingerView | None = None
        self._pybullet_client_id = simulations.register(self)
        self.reset_finger_positions_and_velocities(get_initial_joint_positions(finger_type))
        if enable_visualization:
            self._view = FingerView(self)

    position_gains = gains(0, "position_gains", "(n_joints,) kp of the position control [N m/rad].")
    velocity_gains = gains(1, "velocity_gains", "(n_joints,) kd of the position control [N m s/rad].")
    safety_kd = gains(
        2, "safety_kd", "(n_joints,) damping of the joints for safety, whatever is asked for [N m s/rad]."
    )

    @property
    def max_motor_torque(self) -> float:
        """The greatest torque of a motor [N m]."""
        return self._max_motor_torque

    @max_motor_torque.setter
    def max_motor_torque(self, torque: float) -> None:
        torques = limits("max_motor_torque", torque, self.physics.rules.n)
        if (torques < 0).any():
            raise InvalidValueError(f"max_motor_torque is {torque}; give N m of 0 or more")
        self.physics.rules.gains[3] = torques
        self._max_motor_torque = torque

    def Action(self, torque: ArrayLike | None = None, position: ArrayLike | None = None) -> Action:
        """An action for this robot: torques (n_joints,) [N m], by default 0; positions (n_joints,) [rad], by
        default NaN, no position control."""
        n = self.physics.rules.n
        return Action(
            np.zeros(n) if torque is None else torque, np.full(n, np.nan) if position is None else position
        )

    def append_desired_action(self, action: Any) -> int:
        """Goes one time step on under an action, which is not changed; the time index of that step.

        Args:
            action: an `Action`, or anything with its fields that is made like it.

        Raises:
            ValueError: the action does not fit the robot, or has a torque that is NaN; nothing happens then.
            EngineError: the physics became unstable; a reset mends them. The last action stays that before.
        """
        if self._gone:
            self.edit_scene(lambda _: None)
        physics = self.physics
        try:
            wanted = action.torque, action.position, action.position_kp, action.position_kd
        except AttributeError:
            raise InvalidValueError(f"action: one made by Action() is needed, not {action!r}") from None
        rules, before = physics.rules, self._state()
        done = rules.desired, rules.applied.copy()
        rules.desire(*wanted)
        with self.stepping:
            physics.step()
        try:
            physics.check()
        except EngineError:  # the last action is still the one before
            rules.desired, rules.applied[:] = done
            raise
        self._action_type, self._before = type(action), before
        self._t += 1
        return self._t

    def get_observation(self, t: int) -> Observation:
        """How it was when the action of time index t began to act.

        Args:
            t: index of the last action, or the one after it: how it is now.

        Raises:
            ValueError: any other time index.
        """
        check_time_index(t, self._t, upcoming=True)
        return self._observe(*(self._before if t == self._t else self._state()))

    def get_desired_action(self, t: int) -> Any:
        """The action of time index t, that of the last action, as it was asked for; else ValueError."""
        check_time_index(t, self._t)
        return self._make_action(*self.physics.rules.desired)

    def get_applied_action(self, t: int) -> Any:
        """The action of time index t, that of the last action, as it was applied: with the torque that the
        rules made of it, and the gains they used; else ValueError."""
        check_time_index(t, self._t)
        torque, kp, kd = self.physics.rules.applied
        return self._make_action(torque, self.physics.rules.desired[1], kp, kd)

    def get_timestamp_ms(self, t: int) -> float:
        """The time at which the action of time index t began to act, since the first one did [ms].

        t: index of the last action, or the one after it; ValueError for any other.
        """
        check_time_index(t, self._t, upcoming=True)
        return self.time_step_s * 1000 * t

    def get_current_timeindex(self) -> int:
        """Time index of the last action; ValueError before the first."""
        if self._t < 0:
            raise InvalidValueError("there is no time index before the first action")
        return self._t

    def reset_finger_positions_and_velocities(
        self, joint_positions: ArrayLike, joint_velocities: ArrayLike | None = None
    ) -> Observation:
        """Puts the joints somewhere at once; things and the time index stay. What is observed then.

        Args:
            joint_positions: (n_joints,) [rad].
            joint_velocities: (n_joints,) [rad/s], by default 0.

        Raises:
            ValueError: another number of joints.
        """
        n = self.physics.rules.n
        velocities = np.zeros(n) if joint_velocities is None else joint_velocities
        for what, values in (("joint_positions", joint_positions), ("joint_velocities", velocities)):
            if np.shape(values) != (n,) or not np.isfinite(values).all():
                raise InvalidValueError(f"{what}: the robot needs {n} finite numbers, not {values}")
        with self.stepping:
            self.physics.set(joint_positions, velocities)
        return self._observe(*self._state())

    def contacts(self) -> Contacts:
        """All contacts that carried a force in the last step."""
        return read_contacts(self.physics.model, self.physics.data)

    def tip_forces(self) -> np.ndarray:
        """(n_fingers, 3) all that pressed and rubbed on each tip in the last step, in the world [N]."""
        contacts, tips = self.contacts(), self.physics.tips
        on_tip = (contacts.bodies[:, 1] == tips[:, None]).astype(float)
        on_tip -= contacts.bodies[:, 0] == tips[:, None]
        return on_tip @ contacts.wrench_world[:, :3]

    @property
    def skin(self) -> Skin:
        """The skin of tips and lower links, finger by finger; made when it is first asked for."""
        if self._skin is None:
            self._skin = make_skin(self.physics.model, self.number_of_fingers, self._spacings)
        return self._skin

    def feel(
        self, touch_function: str = "force_vector", response_function: str = "spread_linear"
    ) -> np.ndarray:
        """(taxels, channels) what the skin felt in the last step; by default forces [N] in the links' frames.

        Functions are named as in `tactile_sim.skin`; ConfigError for an unknown name.
        """
        touch = choose("touch_function", touch_function, TOUCH_FUNCTIONS)
        response = choose("response_function", response_function, RESPONSE_FUNCTIONS)
        data = self.physics.data
        with self.stepping:  # the skin has one room to compute in
            return self.skin.feel(self.contacts(), data.xpos, data.xmat.reshape(-1, 3, 3), touch, response)

    def edit_scene(self, edit: Callable[[mujoco.MjSpec], object]) -> None:
        """Adds things to the world, or takes some away, while all else stays as it is.

        edit: called with the spec. ``physics.spec``, ``physics.model`` and ``physics.data`` are other objects
        afterwards. Raises SceneError for what cannot be; all stays as it is then.
        """

        def change(spec: mujoco.MjSpec) -> None:
            for name in self._gone:
                if (body := spec.body(name)) is not None:
                    spec.delete(body)
            edit(spec)

        shown = self._view is not None
        self.close()
        try:
            with self.stepping:
                self.physics.edit(change)
                self._gone.clear()
                self._skin = None
        finally:
            if shown:
                self._view = FingerView(self)

    def close(self) -> None:
        """Ends the view in the browser, where there is one; it ends with the robot in any case."""
        if self._view is not None:
            self._view.close()
            self._view = None

    def _make_action(self, torque: np.ndarray, position: np.ndarray, kp: np.ndarray, kd: np.ndarray) -> Any:
        action = self._action_type(torque.copy(), position.copy())
        action.position_kp, action.position_kd = kp.copy(), kd.copy()
        return action

    def _state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Joint positions, velocities and normal forces on the tips, as they are now."""
        physics = self.physics
        return physics.q.copy(), physics.qd.copy(), physics.tip_normal_forces.copy()

    def _observe(self, position: np.ndarray, velocity: np.ndarray, tip_forces: np.ndarray) -> Observation:
        observation = Observation()
        observation.position, observation.velocity = position, velocity
        observation.torque = self.physics.torque.copy()
        observation.tip_force = push_sensors(self.finger_type, tip_forces)
        return observation

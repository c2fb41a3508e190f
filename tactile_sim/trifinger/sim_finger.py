"""Simulation of a robot with one or three fingers."""

from __future__ import annotations

import itertools
import logging
import weakref
from collections.abc import Callable, Mapping, Sequence
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.common.errors import EngineError, suggest
from tactile_sim.engines.contacts import Contacts, read_contacts
from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Skin
from tactile_sim.skin.taxels import choose
from tactile_sim.trifinger.checks import InvalidValueError, count, function, limits, numbers
from tactile_sim.trifinger.finger_types_data import (
    LINKS,
    SUFFIXES,
    TIP,
    get_initial_joint_positions,
    get_number_of_fingers,
    link_names,
    tip_link_names,
)
from tactile_sim.trifinger.physics import MAX_MOTOR_TORQUE, FingerPhysics
from tactile_sim.trifinger.pinocchio_utils import Kinematics
from tactile_sim.trifinger.scene import TIME_STEP, load_spec, robot_folder, urdf_file

if TYPE_CHECKING:
    from tactile_sim.view.content import ViewScene

MAX_TIME_STEP = 1 / 60
"""Largest valid time step [s]; the same as in trifinger_simulation."""
SPACINGS: Mapping[str, float] = {TIP: 0.002, LINKS[2]: 0.005}
"""Default spacing of the taxels on tips and lower links [m], by the link's name without suffix."""
VIEW_INTERVAL = 0.05
"""Wall time between checks of the robot's state for the browser view [s]."""
FORCE_SCALE = 0.05
"""Length of force arrows per newton [m/N]."""
_LOG = logging.getLogger("tactile_sim.trifinger")


class Action:
    """Torque and position commands for all joints for one time step, as arrays (n_joints,)."""

    torque: np.ndarray
    """Joint torques, which are added to those of the position control [N m]."""
    position: np.ndarray
    """Desired joint positions [rad]; NaN disables position control of a joint."""
    position_kp: np.ndarray
    """Position gain of each joint [N m/rad]; NaN selects the default gain."""
    position_kd: np.ndarray
    """Velocity gain of each joint [N m s/rad]; NaN selects the default gain."""

    def __init__(
        self, torque: ArrayLike, position: ArrayLike, kp: ArrayLike | None = None, kd: ArrayLike | None = None
    ):
        """Create an action from the values of its attributes; without ``kp`` or ``kd``, these are NaN."""
        self.torque = _array("torque", torque)
        self.position = _array("position", position)
        self.position_kp = np.full(self.position.shape, np.nan) if kp is None else _array("kp", kp)
        self.position_kd = np.full(self.position.shape, np.nan) if kd is None else _array("kd", kd)


def _array(what: str, values: ArrayLike) -> np.ndarray:
    """Convert values to an array. Its shape and type are checked when the action is applied."""
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidValueError(f"action.{what}: must be one number for each joint, got {values!r}") from None


class Observation:
    """State of the joints and tips of a robot."""

    position: np.ndarray
    """(n_joints,) joint positions [rad]."""
    velocity: np.ndarray
    """(n_joints,) joint velocities [rad/s]."""
    torque: np.ndarray
    """(n_joints,) motor torques of the last step [N m]."""
    tip_force: np.ndarray
    """(n_fingers,) readings of the push sensors in the tips, from 0.05 to 1.

    `SimFinger.tip_forces` returns the forces on the tips in newtons.
    """

    def __init__(self) -> None:
        self.position = self.velocity = self.torque = self.tip_force = np.empty(0)


def _gains(row: int, name: str, doc: str) -> property:
    """Create a property of `SimFinger` for a row of `Rules.gains`; it can be set to one number."""

    def get(finger: SimFinger) -> np.ndarray:
        return finger.physics.rules.gains[row]

    def set_(finger: SimFinger, values: ArrayLike) -> None:
        rules = finger.physics.rules
        rules.gains[row] = limits(name, values, rules.n)

    return property(get, set_, doc=doc)


class SimFinger:
    """Robot with one or three fingers and a tactile skin.

    Only `append_desired_action` advances time; each call is one time step. Time indices count these steps.

    Attributes:
        finger_type: Finger type of the robot.
        number_of_fingers: 1 or 3.
        time_step_s: Time step [s].
        link_names: Names of the moving links, finger by finger from base to tip, as the joints.
        tip_link_names: Names of the tip links.
        robot_properties_path: Folder of the robot's files.
        finger_urdf_path: Path of the robot's URDF.
        kinematics: Kinematics in the frame of the robot's base, without ``robot_position_offset``.
        physics: Physics of the robot, with MuJoCo's ``spec``, ``model`` and ``data``.
        stepping: Lock to hold while the state is changed or read, because a view's thread reads it.
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
        self.number_of_fingers = get_number_of_fingers(finger_type)
        self.finger_type = finger_type
        if not 0 < numbers("time_step", time_step) <= MAX_TIME_STEP:
            raise InvalidValueError(f"time_step: must be > 0 and <= 1/60 s, got {time_step}")
        offset = numbers("robot_position_offset", robot_position_offset, 3)
        self._spacings = _checked_spacings(spacings)
        self.time_step_s = time_step
        self.link_names = link_names(finger_type)
        self.tip_link_names = tip_link_names(finger_type)
        self.robot_properties_path = robot_folder()
        self.finger_urdf_path = str(urdf_file(finger_type))
        self.kinematics = Kinematics(self.finger_urdf_path, self.tip_link_names)
        spec = load_spec(finger_type, base_position=offset.tolist(), time_step=time_step)
        if furnish is not None:
            function("furnish", furnish)(spec)
        self.physics = FingerPhysics(spec, finger_type, link_drag=link_drag)
        self.stepping = RLock()
        self._skin: Skin | None = None
        self._max_motor_torque = MAX_MOTOR_TORQUE
        self._t = -1
        self._gone: list[str] = []  # bodies to be removed before the next step, see `add_bodies`
        self._view: FingerView | None = None
        # The smallest free id. In trifinger_simulation this is the id of PyBullet's client.
        self._pybullet_client_id = next(number for number in itertools.count() if number not in _running)
        _running[self._pybullet_client_id] = self
        self.reset_finger_positions_and_velocities(get_initial_joint_positions(finger_type))
        if enable_visualization:
            self._view = FingerView(self)

    position_gains = _gains(0, "position_gains", "(n_joints,) gains kp of the position control [N m/rad].")
    velocity_gains = _gains(1, "velocity_gains", "(n_joints,) gains kd of the position control [N m s/rad].")
    safety_kd = _gains(
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
        """Apply an action for one time step, and return the time index of the step.

        Args:
            action: An `Action`, or an object of a class with the same attributes and constructor. It is not
                modified.

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

        ``t`` is the index of the last step, or the next index to get the current state; any other value
        raises InvalidValueError.
        """
        self.check_time_index(t, upcoming=True)
        return self._observe(*(self._before if t == self._t else self._state()))

    def get_desired_action(self, t: int) -> Any:
        """Return the action of the last step, with time index ``t``, as `append_desired_action` got it."""
        self.check_time_index(t)
        return self._make_action(*self.physics.rules.desired)

    def get_applied_action(self, t: int) -> Any:
        """Return an action with the motor torques and gains that were applied in the last step, ``t``."""
        self.check_time_index(t)
        torque, kp, kd = self.physics.rules.applied
        return self._make_action(torque, self.physics.rules.desired[1], kp, kd)

    def get_timestamp_ms(self, t: int) -> float:
        """Return the time [ms] at the beginning of the step with time index ``t``, the last or next one.

        The first step begins at 0 ms.
        """
        self.check_time_index(t, upcoming=True)
        return self.time_step_s * 1000 * t

    def get_current_timeindex(self) -> int:
        """Return the time index of the last step.

        Raises:
            InvalidValueError: No step has been taken yet.
        """
        if self._t < 0:
            raise InvalidValueError("time index: not available before the first action")
        return self._t

    def check_time_index(self, t: int, upcoming: bool = False) -> None:
        """Check that a time index is that of the last step or, with ``upcoming``, of the next one."""
        count("time index", t)
        valid = [index for index in (self._t, self._t + 1)[: 1 + upcoming] if index >= 0]
        if t not in valid:
            wanted = f"must be {' or '.join(map(str, valid))}" if valid else "not available before any action"
            raise InvalidValueError(f"time index: {wanted}, got {t}")

    def reset_finger_positions_and_velocities(
        self, joint_positions: ArrayLike, joint_velocities: ArrayLike | None = None
    ) -> Observation:
        """Set the positions and velocities of the joints, and return the observation of the new state.

        Objects and the time index do not change.

        Args:
            joint_positions: (n_joints,) positions [rad].
            joint_velocities: (n_joints,) velocities [rad/s]; 0 by default.

        Raises:
            InvalidValueError: The arrays have the wrong shape or are not finite.
        """
        n = self.physics.rules.n
        positions = numbers("joint_positions", joint_positions, n)
        given = np.zeros(n) if joint_velocities is None else joint_velocities
        velocities = numbers("joint_velocities", given, n)
        with self.stepping:
            self.physics.q[:], self.physics.qd[:] = positions, velocities
            self.physics.restart()
        return self._observe(*self._state())

    # -- touch ---------------------------------------------------------------------------------------------

    def contacts(self) -> Contacts:
        """Return all contacts that carried a force in the last step."""
        return read_contacts(self.physics.model, self.physics.data)

    def tip_forces(self) -> np.ndarray:
        """Return the net contact force (n_fingers, 3) on each tip in the last step, in the world [N]."""
        contacts, tips = self.contacts(), self.physics.tips
        on_tip = (contacts.bodies[:, 1] == tips[:, None]).astype(float)
        on_tip -= contacts.bodies[:, 0] == tips[:, None]
        return on_tip @ contacts.wrench_world[:, :3]

    @property
    def skin(self) -> Skin:
        """Skin on the selected links, by default tips and lower links; it is created at first use."""
        if self._skin is None:
            model, ends = self.physics.model, SUFFIXES[self.number_of_fingers]
            links = itertools.product(ends, self._spacings.items())
            self._skin = Skin(model, {model.body(link + end).id: spacing for end, (link, spacing) in links})
        return self._skin

    def readings(
        self, touch_function: str = "force_vector", response_function: str = "elastic_foundation"
    ) -> np.ndarray:
        """Return the readings (taxels, channels) of the skin in the last step.

        Args:
            touch_function: Name of a touch function of `tactile_sim.skin`; the default returns forces in the
                frames of the links [N].
            response_function: Name of a response function of `tactile_sim.skin`.

        Raises:
            ConfigError: A function is unknown.
        """
        touch = choose("touch_function", touch_function, TOUCH_FUNCTIONS)
        response = choose("response_function", response_function, RESPONSE_FUNCTIONS)
        data = self.physics.data
        with self.stepping:  # the skin is not thread-safe
            return self.skin.readings_from_contacts(
                self.contacts(), data.xpos, data.xmat.reshape(-1, 3, 3), touch, response
            )

    # -- scene ---------------------------------------------------------------------------------------------

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
            self._skin = None
            shown = self._view is None or self._view.follow_edit(self)
        if not shown:
            self.close()
            self._view = FingerView(self)

    def add_bodies(self, owner: object, names: Sequence[str], add: Callable[[mujoco.MjSpec], object]) -> None:
        """Add bodies, which are removed before the first step after their owner is garbage collected.

        Args:
            owner: Object that owns the bodies.
            names: Names of the bodies.
            add: Function that adds the bodies to the spec.
        """
        self.edit_scene(add)
        # Do not remove them immediately: garbage can be collected at any time, even within a step.
        weakref.finalize(owner, self._gone.extend, names).atexit = False

    def close(self) -> None:
        """Close the browser view if it is open. The view also closes when the robot is garbage collected."""
        if self._view is not None:
            self._view.close()
            self._view = None

    # -- internal ------------------------------------------------------------------------------------------

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
        observation.tip_force = self.physics.push_sensors(tip_forces)
        return observation


_running: weakref.WeakValueDictionary[int, SimFinger] = weakref.WeakValueDictionary()


def find_simulation(number: int) -> SimFinger:
    """Return the simulation with an id. The first one has the id 0; deleted ones free their id.

    Raises:
        InvalidValueError: No simulation has this id.
    """
    simulation = _running.get(number)
    if simulation is None:
        raise InvalidValueError(
            f"pybullet_client_id: no simulation has the id {number}; create the robot first"
        )
    return simulation


def int_to_rgba(color: int, alpha: int = 255) -> tuple[float, float, float, float]:
    """Convert a 24-bit color such as ``0xFF8800`` and an 8-bit alpha to four floats from 0 to 1."""
    red, green, blue = (color >> shift & 0xFF for shift in (16, 8, 0))
    return red / 255, green / 255, blue / 255, (alpha & 0xFF) / 255


def _checked_spacings(spacings: Mapping[str, float]) -> Mapping[str, float]:
    if not isinstance(spacings, Mapping):
        raise InvalidValueError(f"spacings: must be a mapping of links to spacings, got {spacings!r}")
    for link, spacing in spacings.items():
        if link not in (*LINKS, TIP):
            raise InvalidValueError(
                f"spacings: no link {link!r} can have a skin{suggest(link, (*LINKS, TIP))}"
            )
        if numbers(f"spacings: {link}", spacing) <= 0:
            raise InvalidValueError(f"spacings: {link}: must be > 0 m, got {spacing}")
    return spacings


class FingerView:
    """Browser view of a robot, served by a separate process.

    A thread sends the robot's state to this process even while the user's program takes no steps.

    Attributes:
        url: URL of the view, for a browser on this machine.
    """

    def __init__(self, finger: SimFinger):
        """Start the view and print its URL, or raise CommandError if it cannot be served."""
        # Imported here so that programs without a view start quickly.
        from tactile_sim.view.address import Endpoint
        from tactile_sim.view.publisher import ViewProcess

        process = ViewProcess(_view_scene(finger), Endpoint(allow_other_port=True), accepts_requests=False)
        process.listen(lambda *_: None, lambda reason: _LOG.warning("the web view failed: %s", reason))
        self._process = process
        self.url = process.url
        print(f"web view: {self.url}", flush=True)
        self._closed = Event()
        weakref.finalize(finger, self._closed.set)
        self._thread = Thread(target=_publish, args=(weakref.ref(finger), process, self._closed), daemon=True)
        self._thread.start()

    def follow_edit(self, finger: SimFinger) -> bool:
        """Show the edited scene of the robot, if its skin has not changed. Otherwise, stop publishing.

        The caller must hold ``finger.stepping``.

        Returns:
            Whether the view shows the edited scene. If not, it must be closed and replaced.
        """
        from tactile_sim.view.content import has_same_skin

        scene = _view_scene(finger)
        if same := has_same_skin(self._process.scene, scene):
            self._process.set_bodies(scene)
            _write(finger, self._process)
        else:
            self._closed.set()
        return same

    def close(self) -> None:
        """Close the view."""
        self._closed.set()
        self._thread.join()


def _publish(reference: weakref.ref[SimFinger], process: Any, closed: Event) -> None:
    """Publish the robot's state to browsers whenever the state or the number of browsers has changed.

    The loop ends when the view is closed or the robot is garbage collected.
    """
    clients, state = 0, np.empty(0)
    while not closed.wait(VIEW_INTERVAL):
        finger = reference()
        if finger is None:
            break
        before, clients = clients, process.shared.clients
        with finger.stepping:
            if closed.is_set():
                break
            qpos = finger.physics.data.qpos
            if clients and (clients != before or not np.array_equal(state, qpos)):
                state = qpos.copy()
                _write(finger, process)
        del finger
    process.close()


def _view_scene(finger: SimFinger) -> ViewScene:
    from tactile_sim.common.names import Names
    from tactile_sim.view.model_scene import scene_of_model

    model = finger.physics.model
    return scene_of_model(model, Names(model), finger.finger_type, finger.skin)


def _write(finger: SimFinger, process: Any) -> None:
    data, contacts = finger.physics.data, finger.contacts()
    rotations = data.xmat.reshape(-1, 3, 3)
    process.write(
        time=data.time,
        positions=data.xpos,
        quaternions=data.xquat,
        unit=b"N",
        readings=finger.readings(),
        valid=np.empty(0),  # all of them
        wrenches=finger.skin.body_wrenches(contacts, data.xpos, rotations),
        contacts=contacts,
        force_scale=FORCE_SCALE,
    )

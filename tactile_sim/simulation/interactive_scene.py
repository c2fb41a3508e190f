"""Base class of `Simulation` that lets users move, throw, push, pull and press bodies."""

from __future__ import annotations

import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.common.exclusive import exclusive
from tactile_sim.common.names import Names
from tactile_sim.common.schema import is_index, known, numbers, orientation, switch
from tactile_sim.config import Settings
from tactile_sim.control.user_forces import Press, Pull, Thrower
from tactile_sim.engines import Engine
from tactile_sim.simulation.commanded_scene import CommandedScene
from tactile_sim.skin import Skin

PUSH_DURATION = 0.1
"""Duration by which the force of a push is multiplied to get its impulse [s]."""


class InteractiveScene(CommandedScene):
    """A commanded scene in which users move, throw, push, pull and press bodies."""

    def __init__(self, settings: Settings, names: Names, engine: Engine, skin: Skin):
        """Create the thrower and the handler of user forces.

        Args:
            settings: The configuration.
            names: Names of the scene's elements.
            engine: Engine that simulates one environment of the scene.
            skin: Skin at which balls are thrown and on which users press.

        Raises:
            ConfigError, SceneError: ``control``, ``grippers`` or ``motion`` does not fit the scene.
        """
        super().__init__(settings, names, engine)
        self.skin = skin
        self.thrower = Thrower(
            [(names.bodies[body], int(body)) for body in engine.free_bodies],
            np.unique(skin.body_ids).tolist(),
            engine.model.opt.gravity,
            settings.seed,
        )

    def reset(self, keyframe: str | None = None) -> None:
        """Reset the state and all commands, end `pull` and `press`, and restart the sequence of throws.

        Args:
            keyframe: Name of a keyframe in the scene; None restores the initial state.

        Raises:
            EngineError: The keyframe does not exist; nothing is changed.
        """
        super().reset(keyframe)
        self.release()
        self.thrower.restart()

    @exclusive
    def set_body_state(
        self, body: str, position: np.ndarray, quaternion: np.ndarray, linear: np.ndarray, angular: np.ndarray
    ) -> None:
        """Set the pose and twist of a body that has a free joint, in the world frame.

        Args:
            body: Name of the body.
            position: (3,) Position of its origin [m].
            quaternion: (4,) Orientation, wxyz; it is normalized.
            linear: (3,) Velocity of its origin [m/s].
            angular: (3,) Angular velocity [rad/s].

        Raises:
            CommandError, SceneError: The body or a value is invalid; the state is then unchanged.
        """
        body_id = self.names.body_id(body)
        if body_id not in self.engine.free_bodies:
            raise CommandError(f"body {body!r} has no free joint; only the state of a free body can be set")
        where = f"set_body_state of body {body!r}"
        pose = _pose(where, position, quaternion)
        twist = numbers(f"{where}: twist: linear", linear, 3), numbers(f"{where}: twist: angular", angular, 3)
        self.engine.set_free_body(body_id, *pose, *twist)
        self._changes += 1

    @exclusive
    def set_mocap_pose(self, body: str, position: np.ndarray, quaternion: np.ndarray) -> None:
        """Set the pose of a mocap body, from the next step on.

        Args:
            body: Name of the body.
            position: (3,) Position of its origin in the world [m].
            quaternion: (4,) Orientation in the world, wxyz; it is normalized.

        Raises:
            CommandError: The body is not a mocap body or a value is invalid; the pose is then unchanged.
        """
        model, names = self.engine.model, self.names.bodies
        mocaps = {names[b]: int(model.body_mocapid[b]) for b in np.flatnonzero(model.body_mocapid >= 0)}
        known("set_mocap_pose: no mocap body", body, mocaps)
        position, quaternion = _pose(f"set_mocap_pose of body {body!r}", position, quaternion)
        self.engine.mocap_pos[mocaps[body]] = position
        self.engine.mocap_quat[mocaps[body]] = quaternion / np.linalg.norm(quaternion)

    @exclusive
    def set_equality(self, name: str, active: bool) -> None:
        """Switch an equality constraint, such as a weld, on or off from the next step on.

        Args:
            name: Name of the constraint.
            active: Whether to switch it on.

        Raises:
            SceneError: The constraint does not exist.
            CommandError: ``active`` is not a boolean, or the engine cannot switch equality constraints.
        """
        equality = self.names.equality_id(name)
        if not self.engine.switches_equalities:
            raise CommandError(
                f"set_equality of {name!r}: requires engine mujoco, got {self.engine.name!r},"
                " which cannot switch equalities"
            )
        self.engine.eq_active[equality] = switch("set_equality: active", active)

    @exclusive
    def throw(self) -> str:
        """Throw the next ball at the skin and return its name.

        Raises:
            CommandError: The scene has no ball or no skin.
        """
        # Not body_positions, which are those of the last observation or step.
        states = self.engine.body_states(range(self.engine.model.nbody))
        name, ball, start, velocity = self.thrower.throw(states[:, :3])
        self.engine.set_free_body(ball, start, np.array([1.0, 0.0, 0.0, 0.0]), velocity, np.zeros(3))
        self._changes += 1
        return name

    @exclusive
    def push(self, body: int, force: np.ndarray) -> None:
        """Apply an impulse at a body's center of mass: a force multiplied by `PUSH_DURATION`.

        Args:
            body: Id of the body.
            force: (3,) Force in the world frame [N].

        Raises:
            CommandError: The body cannot move or the force is invalid; the state is then unchanged.
        """
        self._check_body("push", body)
        self.engine.strike(body, PUSH_DURATION * numbers("push: force", force, 3, unit="N"))
        self._changes += 1

    @exclusive
    def pull(self, body: int, point: np.ndarray, target: np.ndarray, limit: float) -> None:
        """Pull a point of a body toward a target with a spring, until `release`.

        Args:
            body: Id of the body.
            point: (3,) Point where the spring is attached, in the body frame [m].
            target: (3,) Other end of the spring, in the world frame [m].
            limit: Maximum force of the spring [N].

        Raises:
            CommandError: The body cannot move, a value is invalid, or the engine does not support forces on
                bodies.
        """
        self._check_hand("pull", body)
        point, target = (
            numbers("pull: point", point, 3, unit="m"),
            numbers("pull: target", target, 3, unit="m"),
        )
        limit = abs(float(numbers("pull: limit", limit, unit="N")))
        hands, engine = self.hands, self.engine
        last = hands.pull
        if last and last.body == body and np.array_equal(last.point, point):
            mass = last.mass
        else:
            mass = engine.effective_mass(body, point)
        hands.pull = Pull(body, point, target, limit, mass)

    @exclusive
    def press(self, body: int, point: np.ndarray, force: np.ndarray, duration: float) -> None:
        """Press on the skin of a body with a force that is constant in the body frame.

        Args:
            body: Id of the body.
            point: (3,) Point of application in the body frame [m].
            force: (3,) Force on the body, in the body frame [N].
            duration: Duration in simulation time [s].

        Raises:
            CommandError: The body has no skin, a value is invalid, or the engine does not support forces on
                bodies.
        """
        self._check_hand("press", body, moves=False)
        point, force = (
            numbers("press: point", point, 3, unit="m"),
            numbers("press: force", force, 3, unit="N"),
        )
        duration = float(numbers("press: duration", duration, unit="s"))
        skin = self.skin
        rigid = np.array([pad.flex < 0 for pad in skin.pads], bool)[skin.pad_index]
        taxels = np.flatnonzero((skin.pad_bodies[skin.pad_index] == body) & rigid)
        if not len(taxels) or not force.any():
            raise CommandError("press: the body has no skin, or the force is 0 N; press a body with skin")
        nearest = taxels[np.linalg.norm(skin.surface_positions[taxels] - point, axis=1).argmin()]
        geom = int(skin.pads[skin.pad_index[nearest]].geom_ids[skin.geom_index[nearest]])
        end = self.steps_since_reset + max(1, round(duration / self.engine.timestep))
        self.hands.press = Press(body, geom, point, force, end)
        self._changes += 1

    @exclusive
    def release(self) -> None:
        """End `pull` and `press`."""
        self.hands.release(self.engine)
        self._changes += 1

    def _check_hand(self, action: str, body: int, moves: bool = True) -> None:
        if not self.engine.accepts_body_forces:
            raise CommandError(f"{action}: engine {self.engine.name!r} does not support forces on bodies")
        self._check_body(action, body, moves)

    def _check_body(self, action: str, body: int, moves: bool = True) -> None:
        """Check the id of a body, for a user action.

        Args:
            action: Name of the action, for error messages.
            body: Id of the body.
            moves: Whether the body must be able to move, that is, not be fixed to the world.

        Raises:
            CommandError: There is no such body, or it cannot move.
        """
        model = self.engine.model
        if not is_index(body, model.nbody):
            raise CommandError(f"{action}: body: must be an id from 0 to {model.nbody - 1}, got {body!r}")
        if moves and model.body_weldid[body] == 0:
            raise CommandError(f"{action}: body: must not be fixed to the world, got {body}")


def _pose(where: str, position: np.ndarray, quaternion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Check and return a position (3,) [m] and a nonzero quaternion (4,)."""
    return (
        numbers(f"{where}: position", position, 3, unit="m"),
        orientation(f"{where}: orientation (quaternion)", quaternion),
    )

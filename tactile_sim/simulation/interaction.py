"""What a user does to bodies by hand, as in the view: throw, push, pull and press."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.common.exclusive import Use, exclusive
from tactile_sim.common.schema import is_index, numbers
from tactile_sim.control.user_forces import Hands, Press, Pull, Thrower
from tactile_sim.engines import Engine

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation

PUSH_DURATION = 0.1
"""Duration by which the force of a push is multiplied to get its impulse [s]."""


class Interaction:
    """Forces with which a user acts on the bodies of a simulation."""

    def __init__(self, simulation: Simulation):
        """Find the balls to throw, and the bodies with skin as their targets.

        Args:
            simulation: Simulation whose engine and skin already exist.
        """
        self._simulation, engine = simulation, simulation.engine
        self.hands = Hands()
        """Forces with which the user pulls and presses bodies."""
        names = simulation.names.bodies
        self._thrower = Thrower(
            [(names[body], int(body)) for body in engine.free_bodies],
            simulation.skin_bodies.tolist(),
            engine.model.opt.gravity,
            simulation.settings.seed,
        )

    @property
    def use(self) -> Use:
        """Context in which one thread uses the simulation."""
        return self._simulation.use

    @property
    def _engine(self) -> Engine:
        return self._simulation.engine

    @property
    def active(self) -> bool:
        """True if forces must be set before each step."""
        return self.hands.active

    @property
    def can_throw(self) -> bool:
        """True if the scene has a ball and a body with skin."""
        return self._thrower.can_throw

    def restart(self) -> None:
        """End `pull` and `press`, and restart the sequence of throws."""
        self.release()
        self._thrower.restart()

    @exclusive
    def throw(self) -> str:
        """Throw the next ball at the skin and return its name."""
        # Not body_positions, which are those of the last observation or step.
        states = self._engine.body_states(range(self._engine.model.nbody))
        name, ball, start, velocity = self._thrower.throw(states[:, :3])
        self._engine.set_free_body(ball, start, np.array([1.0, 0.0, 0.0, 0.0]), velocity, np.zeros(3))
        self._simulation._changes += 1
        return name

    @exclusive
    def push(self, body: int, force: np.ndarray) -> None:
        """Apply an impulse at a body's center of mass; see `Simulation.push`."""
        self._check_body("push", body)
        self._engine.strike(body, PUSH_DURATION * numbers("push: force", force, 3, unit="N"))
        self._simulation._changes += 1

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
        hands, engine = self.hands, self._engine
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
        skin = self._simulation.skin
        rigid = np.array([pad.flex < 0 for pad in skin.pads], bool)[skin.pad_index]
        taxels = np.flatnonzero((skin.pad_bodies[skin.pad_index] == body) & rigid)
        if not len(taxels) or not force.any():
            raise CommandError("press: the body has no skin, or the force is 0 N; press a body with skin")
        nearest = taxels[np.linalg.norm(skin.surface_positions[taxels] - point, axis=1).argmin()]
        geom = int(skin.pads[skin.pad_index[nearest]].geom_ids[skin.geom_index[nearest]])
        end = self._simulation.steps_since_reset + max(1, round(duration / self._engine.timestep))
        self.hands.press = Press(body, geom, point, force, end)
        self._simulation._changes += 1

    @exclusive
    def release(self) -> None:
        """End `pull` and `press`."""
        self.hands.release(self._engine)
        self._simulation._changes += 1

    def _check_hand(self, action: str, body: int, moves: bool = True) -> None:
        if not self._engine.accepts_body_forces:
            raise CommandError(f"{action}: engine {self._engine.name!r} does not support forces on bodies")
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
        model = self._engine.model
        if not is_index(body, model.nbody):
            raise CommandError(f"{action}: body: must be an id from 0 to {model.nbody - 1}, got {body!r}")
        if moves and model.body_weldid[body] == 0:
            raise CommandError(f"{action}: body: must not be fixed to the world, got {body}")

"""Forces and balls of a user: a spring that pulls, a finger that presses, and throws at the skin."""

from __future__ import annotations

import re
from dataclasses import dataclass

import mujoco
import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.engines import Contacts, Engine

FREQUENCY = 10.0
"""Natural frequency of a body on the spring [rad/s], as in MuJoCo's simulate. The damping is critical."""


@dataclass(frozen=True)
class Pull:
    """A spring between a point on a body and a target."""

    body: int
    point: np.ndarray
    """(3,) point where the spring is attached, body frame [m]."""
    target: np.ndarray
    """(3,) point to which the spring pulls, world frame [m]."""
    limit: float
    """Maximum force of the spring [N]."""
    mass: float
    """Effective mass of the body at `point` [kg]."""


@dataclass(frozen=True)
class Press:
    """A force on the skin of a body, sensed as a contact that has no second body."""

    body: int
    geom: int
    """Id of the geom on which the force acts."""
    point: np.ndarray
    """(3,) point of application, body frame [m]."""
    force: np.ndarray
    """(3,) force on the body, body frame [N]."""
    end: int
    """Number of steps since the reset at which the press ends."""


class Hands:
    """Applies at most one pull and one press to the bodies of an engine.

    Attributes:
        pull: Current pull, or None.
        press: Current press, or None.
        pull_force: (3,) Force of the spring in the last step, world frame [N].
    """

    def __init__(self) -> None:
        self.pull: Pull | None = None
        self.press: Press | None = None
        self.pull_force = np.zeros(3)
        self._touched: set[int] = set()
        """Ids of the bodies to which a force is applied."""

    @property
    def active(self) -> bool:
        """True if `apply` must be called before each step."""
        return bool(self.pull or self.press or self._touched)

    def apply(self, engine: Engine, step: int) -> None:
        """Set the forces on bodies for the next step, and end a press that has lasted for its duration."""
        for body in self._touched:
            engine.xfrc_applied[body] = 0.0
        self._touched.clear()
        self.pull_force[:] = 0.0
        if self.press and step >= self.press.end:
            self.press = None
        for action in (self.pull, self.press):
            if action:
                self._apply(engine, action)

    def _apply(self, engine: Engine, action: Pull | Press) -> None:
        """Add the force of a pull or press to its body."""
        body = action.body
        state = engine.body_states([body])[0]
        flat = np.empty(9)
        mujoco.mju_quat2Mat(flat, state[3:7])
        rotation = flat.reshape(3, 3)
        offset = rotation @ action.point
        if isinstance(action, Pull):
            velocity = state[7:10] + np.cross(state[10:], offset)
            error = action.target - state[:3] - offset
            force = action.mass * (FREQUENCY**2 * error - 2.0 * FREQUENCY * velocity)
            force *= min(1.0, action.limit / max(float(np.linalg.norm(force)), 1e-12))
            self.pull_force[:] = force
        else:
            force = rotation @ action.force
        engine.xfrc_applied[body, :3] += force
        engine.xfrc_applied[body, 3:] += np.cross(offset - rotation @ engine.model.body_ipos[body], force)
        self._touched.add(body)

    def release(self, engine: Engine) -> None:
        """End the pull and the press, and clear their forces."""
        self.pull = self.press = None
        self.apply(engine, 0)

    def with_press(self, contacts: Contacts, positions: np.ndarray, rotations: np.ndarray) -> Contacts:
        """Return the contacts, with a contact added for the current press.

        - ``positions``: Positions of all bodies in the world (nbody, 3) [m].
        - ``rotations``: Rotations of all bodies to the world frame (nbody, 3, 3).
        """
        press = self.press
        assert press is not None
        added = Contacts.empty(1)
        force = rotations[press.body] @ press.force
        normal = force / np.linalg.norm(force)
        first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
        first /= np.linalg.norm(first)
        added.values[:] = 0.0
        added.position[0] = positions[press.body] + rotations[press.body] @ press.point
        added.frame[0] = normal, first, np.cross(normal, first)
        added.wrench_world[0, :3] = force
        added.wrench[0, 0] = np.linalg.norm(force)
        added.ids[0] = -1
        added.bodies[0, 1], added.geoms[0, 1] = press.body, press.geom
        return Contacts(
            np.concatenate([contacts.values, added.values]), np.concatenate([contacts.ids, added.ids])
        )


DISTANCE = 0.5
"""Horizontal distance of a ball from its target at the start [m]."""
FLIGHT = 0.25
"""Duration of the flight [s]."""


class Thrower:
    """Throws the free bodies named ``ball`` or ``ball_...`` in turn, each at a random body with skin."""

    def __init__(
        self, free_bodies: list[tuple[str, int]], targets: list[int], gravity: np.ndarray, seed: int
    ):
        """Select the balls and the targets.

        - ``gravity``: (3,) Gravity in the world frame [m/s²].
        """
        self._gravity = gravity
        self._seed = seed
        self._balls = [(name, body) for name, body in free_bodies if re.fullmatch(r"ball(_.*)?", name)]
        balls = {body for _, body in self._balls}
        self._targets = [body for body in targets if body and body not in balls]
        self.restart()

    @property
    def can_throw(self) -> bool:
        """True if the scene has a ball and a body with skin."""
        return bool(self._balls and self._targets)

    def restart(self) -> None:
        """Restart the random sequence of throws from its beginning."""
        self._thrown = 0
        self._random = np.random.default_rng(self._seed)

    def throw(self, body_positions: np.ndarray) -> tuple[str, int, np.ndarray, np.ndarray]:
        """Choose the next ball and a random target, and return the state in which the ball starts.

        - ``body_positions``: (nbody, 3) positions of the bodies in the world [m].

        Returns:
            Name and body id of the ball, and its start position (3,) [m] and velocity (3,) [m/s] in the
            world frame.
        """
        if not self._balls:
            raise CommandError("the scene has no ball to throw: a free body named 'ball' or 'ball_...'")
        if not self._targets:
            raise CommandError("no body has a skin to throw a ball at")
        name, ball = self._balls[self._thrown % len(self._balls)]
        self._thrown += 1
        target = body_positions[self._random.choice(self._targets)]
        azimuth = self._random.uniform(-np.pi, np.pi)
        # From the side and a little above, so that tables and floors are not in the way.
        start = target + DISTANCE * np.array([np.cos(azimuth), np.sin(azimuth), 0.7])
        velocity = (target - start) / FLIGHT - 0.5 * FLIGHT * self._gravity
        return name, ball, start, velocity

"""Actions that users can request from a running simulation, each declared once in `ACTIONS`.

The ROS services, browser requests and terminal keys are generated from this table.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.common.schema import numbers, whole
from tactile_sim.simulation.action import Action, Loop

if TYPE_CHECKING:  # not imported at run time, because it takes a second to load
    from tactile_sim.simulation import Simulation


def pause(loop: Loop, paused: bool = True) -> str:
    """Pause or resume time."""
    loop.pause(paused)
    return "paused" if paused else "running"


def step(loop: Loop, steps: int = 1) -> Future[int]:
    """Advance a simulation that is paused or in lock-step."""
    return loop.request_steps(steps)


def reset(loop: Loop, keyframe: str = "") -> str:
    """Restore the initial state, or that of a keyframe."""
    loop.interfere(lambda: loop.simulation.reset(keyframe or None), mends=True)
    done = f"reset to keyframe {keyframe!r}" if keyframe else "reset"
    return done + ("; still paused" if loop.paused else "")


def throw(loop: Loop) -> str:
    """Throw the next ball at the skin."""
    return loop.interfere(lambda: f"threw {loop.simulation.throw()!r}")


def tare(loop: Loop) -> str:
    """Make the current readings count as zero."""
    return loop.interfere(loop.simulation.take_tare)


def set_body_state(loop: Loop, body: str, pose: np.ndarray, twist: np.ndarray) -> str:
    """Set the pose and the velocity of a body that has a free joint.

    Args:
        loop: Loop that steps the simulation.
        body: Name of the body.
        pose: (7,) Position [m] and quaternion wxyz in the world.
        twist: (6,) Linear velocity [m/s] and angular velocity [rad/s] in the world.
    """
    parts = np.split(np.concatenate([pose, twist]), [3, 7, 10])
    loop.interfere(lambda: loop.simulation.set_body_state(body, *parts))
    return f"body {body!r} is set"


def set_joint_state(loop: Loop, joint_names: list, positions: np.ndarray, velocities: np.ndarray) -> str:
    """Set positions and velocities of hinge and slide joints.

    Args:
        loop: Loop that steps the simulation.
        joint_names: (n,) Names of the joints.
        positions: (n,) Positions [rad or m]; NaN leaves a joint unchanged. May be empty.
        velocities: (n,) Velocities [rad/s or m/s]; NaN leaves a joint unchanged. May be empty.
    """
    for field, values in (("positions", positions), ("velocities", velocities)):
        if len(values) not in (0, len(joint_names)):
            raise CommandError(
                f"set_joint_state: {field} must be empty or have {len(joint_names)} values, got {len(values)}"
            )
    given = [
        {joint: value for joint, value in zip(joint_names, values, strict=False) if not np.isnan(value)}
        for values in (positions.tolist(), velocities.tolist())
    ]
    loop.interfere(lambda: loop.simulation.set_joints(*given))
    return f"joints that are set: {len(given[0].keys() | given[1].keys())}"


def set_mocap_pose(loop: Loop, body: str, pose: np.ndarray) -> str:
    """Set the pose of a mocap body, from the next step on.

    Args:
        loop: Loop that steps the simulation.
        body: Name of the body.
        pose: (7,) Position [m] and quaternion wxyz in the world.
    """

    def move() -> None:
        loop.simulation.set_mocap_pose(body, pose[:3], pose[3:])

    # Like ctrl, the pose is an input, so it needs no separate stamp while time runs.
    loop.interfere(move) if loop.paused else move()
    return f"mocap body {body!r} is set"


def set_equality(loop: Loop, name: str, active: bool) -> str:
    """Switch an equality constraint, such as a weld, on or off.

    Args:
        loop: Loop that steps the simulation.
        name: Name of the constraint.
        active: Whether to switch it on.
    """
    loop.simulation.set_equality(name, active)
    return f"equality {name!r} is {'on' if active else 'off'}"


def push(loop: Loop, body: int, force: np.ndarray) -> str:
    """Push a body with a short impulse; see `Simulation.push`.

    Args:
        loop: Loop that steps the simulation.
        body: Id of the body.
        force: (3,) Force in the world frame [N].
    """
    loop.interfere(lambda: loop.simulation.push(body, force))
    return f"pushed {loop.simulation.names.bodies[body]!r}"


def pull(loop: Loop, body: int, point: np.ndarray, target: np.ndarray, limit: float) -> None:
    """Pull a body with a spring; see `Interaction.pull`.

    Args:
        loop: Loop that steps the simulation.
        body: Id of the body.
        point: (3,) Point where the spring is attached, in the body's frame [m].
        target: (3,) Other end of the spring, in the world frame [m].
        limit: Maximum force of the spring [N].
    """
    loop.simulation.interaction.pull(body, point, target, limit)


def press(loop: Loop, body: int, point: np.ndarray, force: np.ndarray, duration: float = 1.0) -> str:
    """Press on the skin of a body; see `Interaction.press`.

    Args:
        loop: Loop that steps the simulation.
        body: Id of the body.
        point: (3,) Point of application in the body's frame [m].
        force: (3,) Force in the body's frame [N].
        duration: Duration in simulation time [s].
    """
    loop.interfere(lambda: loop.simulation.interaction.press(body, point, force, duration))
    return f"pressing {loop.simulation.names.bodies[body]!r} with {np.linalg.norm(force):.3g} N"


def release(loop: Loop) -> None:
    """End the pull and the press."""
    loop.simulation.interaction.release()


def set_control(loop: Loop, index: int, value: float) -> None:
    """Set the control of one actuator and leave the others unchanged."""
    simulation = loop.simulation
    index = whole("set_control: index", index, 0, simulation.engine.model.nu - 1)
    values = numbers(f"ctrl[{index}]", value).reshape(1)
    loop.command(lambda: simulation.accept_controls(np.array([index]), values))


def set_choice(loop: Loop, name: str, value: str) -> Future[None] | None:
    """Set a live parameter of type string."""
    return loop.set_parameter(name, value)


def set_switch(loop: Loop, name: str, value: bool) -> Future[None] | None:
    """Set a live parameter of type bool."""
    return loop.set_parameter(name, value)


def set_parameter(loop: Loop, name: str, value: float) -> Future[None] | None:
    """Set a live parameter of type integer or float."""
    return loop.set_parameter(name, value)


def set_view(loop: Loop, view: str) -> None:
    """Store the camera and the color scale of the browser view.

    Args:
        loop: Loop that steps the simulation.
        view: JSON from `tactile_sim.bag.messages.LiveView`.
    """
    for store in loop.on_view:
        store(view)


def record(loop: Loop, on: bool = True) -> None:
    """Start or stop a recording to a new bag."""
    if loop.recorder is None:
        raise CommandError("record: this view has no folder for recordings; start it with --out DIR")
    loop.recorder.record(on)


def _can_throw(simulation: Simulation) -> bool:
    return simulation.interaction.can_throw


def _has_skin(simulation: Simulation) -> bool:
    return bool(simulation.skin.pads)


ACTIONS = {
    action.name: action
    for action in (
        Action(throw, "std_srvs/srv/Trigger", " ", "throw a ball", True, _can_throw),
        Action(pause, "std_srvs/srv/SetBool", "p", "pause", answered=False),
        Action(reset, "tactile_sim/srv/Reset", "r", "reset"),
        Action(step, "tactile_sim/srv/Step", "s", "step"),
        Action(tare, "std_srvs/srv/Trigger", "t", "tare", True, _has_skin),
        Action(set_body_state, "tactile_sim/srv/SetBodyState"),
        Action(set_joint_state, "tactile_sim/srv/SetJointState"),
        Action(set_mocap_pose, "tactile_sim/srv/SetMocapPose"),
        Action(set_equality, "tactile_sim/srv/SetEquality"),
        Action(push),
        Action(pull, answered=False),
        Action(press),
        Action(release, answered=False),
        Action(set_control),
        Action(set_parameter),
        Action(set_choice),
        Action(set_switch),
        Action(set_view, answered=False),
        Action(record, answered=False),
    )
}
"""All actions by name."""
KEYS = {action.key: action for action in ACTIONS.values() if action.key}
"""Actions by terminal key."""

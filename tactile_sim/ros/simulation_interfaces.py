"""Services of ``simulation_interfaces``. Import this module only if that package is installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np
from rclpy.node import Node
from simulation_interfaces import srv
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityInfo,
    EntityState,
    Result,
    SimulationState,
    SimulatorFeatures,
)
from simulation_interfaces.srv import SetEntityState
from std_msgs.msg import Header

import tactile_sim
from tactile_sim.common.errors import CommandError, SceneError, TactileSimError, suggest
from tactile_sim.common.text import counted
from tactile_sim.ros.services import DeferredService, as_pose, as_time, as_twist, pose_row, twist_row
from tactile_sim.simulation.runner import Runner


class Refusal(CommandError):
    """Error that rejects a request, with a result code from ``simulation_interfaces``."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code


def unsupported(text: str) -> Refusal:
    """Return an error with the result code for unsupported features."""
    return Refusal(Result.RESULT_FEATURE_UNSUPPORTED, text)


class Entities:
    """Handles requests about entities, which are all bodies of the scene except the world.

    Entity names are body names. Each public method handles a request and returns the fields of the response,
    if any. Call the methods only in the thread of the loop.
    """

    def __init__(self, runner: Runner):
        self._runner = runner
        self._simulation = runner.simulation
        self._names = runner.simulation.names.bodies[1:]

    def names(self, request: Any) -> dict[str, Any]:
        """Handle ``get_entities``: return the names of the entities that pass the filters."""
        return {"entities": self._matching(request.filters)}

    def states(self, request: Any) -> dict[str, Any]:
        """Handle ``get_entities_states``: return names and states of the entities that pass the filters."""
        names = self._matching(request.filters)
        return {"entities": names, "states": self._read(names)}

    def state(self, request: Any) -> dict[str, Any]:
        """Handle ``get_entity_state``: return the pose and twist of one entity in the world frame."""
        return {"state": self._read([request.entity])[0]}

    def info(self, request: Any) -> dict[str, Any]:
        """Handle ``get_entity_info``: return an entity's category and, as text, its mass and taxel counts."""
        body, model = self._id(request.entity), self._simulation.engine.model
        category = self._category(request.entity)
        kinds = {
            EntityCategory.CATEGORY_STATIC_OBJECT: "fixed",
            EntityCategory.CATEGORY_DYNAMIC_OBJECT: "free",
        }
        details = [kinds.get(category, "jointed"), f"{model.body_mass[body]:.4g} kg"]
        details += [
            counted(skin.stop - skin.start, "taxel")
            for skin in self._simulation.skin.pads
            if skin.body_id == body
        ]
        return {
            "info": EntityInfo(category=EntityCategory(category=category), description=", ".join(details))
        }

    def set_state(self, request: Any) -> None:
        """Handle ``set_entity_state``: set the pose and twist of a free body, both in the world frame."""
        body, simulation = self._id(request.entity), self._simulation
        if body not in simulation.engine.free_bodies:
            raise CommandError(
                f"body {request.entity!r} has no free joint; only the state of free bodies can be set"
            )
        frame, world = request.state.header.frame_id, simulation.settings.world_frame
        if frame not in ("", world):
            raise CommandError(f"state.header.frame_id: must be {world!r} or empty, got {frame!r}")
        state = self._simulation.engine.body_states([body])[0]
        # The flags were added in version 2.1; requests of earlier versions always set both.
        if getattr(request, "set_pose", True):
            state[:7] = pose_row(request.state.pose)
            if not (np.isfinite(state[:7]).all() and state[3:7].any()):
                raise Refusal(
                    SetEntityState.Response.INVALID_POSE,
                    f"pose of {request.entity!r}: must be finite with a nonzero orientation; "
                    "the identity is x: 0, y: 0, z: 0, w: 1",
                )
        if getattr(request, "set_twist", True):
            state[7:] = twist_row(request.state.twist)
        parts = np.split(state, [3, 7, 10])
        self._runner.interfere(lambda: simulation.set_body_state(request.entity, *parts))

    def _matching(self, filters: Any) -> list[str]:
        """Return the names of the entities that pass the filters."""
        if filters.tags.tags:
            raise unsupported("filters.tags: not supported, entities have no tags")
        if filters.bounds.type != Bounds.TYPE_EMPTY:
            raise unsupported("filters.bounds: not supported, entities have no bounds")
        try:
            pattern = re.compile(filters.filter)
        except re.error as error:
            raise CommandError(
                f"filters.filter: must be a regular expression, got {filters.filter!r}: {error}"
            ) from None
        wanted = {category.category for category in filters.categories}
        return [
            name
            for name in self._names
            if pattern.search(name) and (not wanted or self._category(name) in wanted)
        ]

    def _category(self, name: str) -> int:
        body, engine = self._id(name), self._simulation.engine
        if body in engine.free_bodies:
            return EntityCategory.CATEGORY_DYNAMIC_OBJECT
        fixed = engine.model.body_weldid[body] == 0
        return EntityCategory.CATEGORY_STATIC_OBJECT if fixed else EntityCategory.CATEGORY_OBJECT

    def _read(self, names: list[str]) -> list[EntityState]:
        header = Header(stamp=as_time(self._simulation.stamp), frame_id=self._simulation.settings.world_frame)
        return [
            EntityState(header=header, pose=as_pose(row[:7]), twist=as_twist(row[7:]))
            for row in self._simulation.engine.body_states([*map(self._id, names)])
        ]

    def _id(self, name: str) -> int:
        if name not in self._names:
            raise SceneError(f"the scene has no body named {name!r}{suggest(name, self._names)}")
        return self._simulation.names.body_id(name)


class SimulationInterfaces:
    """Offers the supported services of ``simulation_interfaces``, with names relative to the namespace."""

    def __init__(self, node: Node, runner: Runner):
        self._runner = runner
        self._simulation = runner.simulation
        self._stopped = False
        """True if the last requested state was STOPPED."""
        entities = Entities(self._runner)
        for name, work in (
            ("GetSimulatorFeatures", self._features),
            ("GetSimulationState", self._get_state),
            ("SetSimulationState", self._set_state),
            ("GetEntities", entities.names),
            ("GetEntityInfo", entities.info),
            ("GetEntityState", entities.state),
            ("GetEntitiesStates", entities.states),
            ("SetEntityState", entities.set_state),
        ):
            self._serve(node, name, partial(self._between_steps, work))
        self._serve(node, "ResetSimulation", self._reset)
        self._serve(node, "StepSimulation", lambda request: runner.ask("step", request.steps))

    def _serve(self, node: Node, name: str, ask: Callable[[Any], Future]) -> None:
        snake_case = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        DeferredService(node, getattr(srv, name), snake_case, ask, self._fill)

    def _between_steps(self, work: Callable[[Any], dict[str, Any] | None], request: Any) -> Future:
        """Call ``work`` with the request between two steps; return a future with the response's fields."""
        return self._runner.call(lambda: work(request))

    def _fill(self, response: Any, future: Future) -> None:
        code, text = Result.RESULT_OK, ""
        try:
            result = future.result()
            for name, value in (result if isinstance(result, dict) else {}).items():
                setattr(response, name, value)
        except TactileSimError as error:
            code, text = _code(error), str(error)
        if hasattr(response, "result"):
            response.result = Result(result=code, error_message=text)

    # -- the simulator ---------------------------------------------------------------------------------------

    def _features(self, request: Any) -> dict[str, Any]:
        return {
            "features": SimulatorFeatures(
                features=[
                    SimulatorFeatures.ENTITY_CATEGORIES,
                    SimulatorFeatures.ENTITY_STATE_GETTING,
                    SimulatorFeatures.ENTITY_STATE_SETTING,
                    SimulatorFeatures.ENTITY_INFO_GETTING,
                    SimulatorFeatures.SIMULATION_RESET,
                    SimulatorFeatures.SIMULATION_RESET_STATE,
                    SimulatorFeatures.SIMULATION_STATE_GETTING,
                    SimulatorFeatures.SIMULATION_STATE_SETTING,
                    SimulatorFeatures.SIMULATION_STATE_PAUSE,
                    SimulatorFeatures.STEP_SIMULATION_SINGLE,
                    SimulatorFeatures.STEP_SIMULATION_MULTIPLE,
                ],
                custom_info=f"tactile_sim {tactile_sim.__version__}, docs/bridges.md; "
                f"engine {self._simulation.settings.engine}",
            )
        }

    def _reset(self, request: Any) -> Future:
        scopes = srv.ResetSimulation.Request
        if request.scope not in (scopes.SCOPE_DEFAULT, scopes.SCOPE_STATE, scopes.SCOPE_ALL):
            return self._between_steps(self._refuse_scope, request)
        return self._runner.ask("reset")

    def _refuse_scope(self, request: Any) -> None:
        raise unsupported(
            f"scope: must be SCOPE_STATE or SCOPE_ALL, got {request.scope}; ROS time never goes back and "
            "nothing is spawned, so only the state can be reset"
        )

    def _get_state(self, request: Any) -> dict[str, Any]:
        return {"state": SimulationState(state=self._state())}

    def _state(self) -> int:
        if not self._runner.paused:
            return SimulationState.STATE_PLAYING
        stopped = self._stopped and self._simulation.steps_since_reset == 0
        return SimulationState.STATE_STOPPED if stopped else SimulationState.STATE_PAUSED

    def _set_state(self, request: Any) -> None:
        states, codes = SimulationState, srv.SetSimulationState.Response
        changes = {
            states.STATE_STOPPED: self._stop,
            states.STATE_PLAYING: lambda: self._runner.pause(False),
            states.STATE_PAUSED: lambda: self._runner.pause(True),
            states.STATE_QUITTING: lambda: self._runner.stop(
                "a client requested STATE_QUITTING from set_simulation_state"
            ),
        }
        wanted = request.state.state
        if wanted not in changes:
            raise unsupported(f"state: not supported, got {wanted}; the world of a node stays loaded")
        if wanted == self._state():
            raise Refusal(codes.ALREADY_IN_TARGET_STATE, "the simulation is already in this state")
        try:
            changes[wanted]()
        except CommandError as error:
            raise Refusal(codes.STATE_TRANSITION_ERROR, str(error)) from None
        self._stopped = wanted == states.STATE_STOPPED

    def _stop(self) -> None:
        self._runner.pause(True)
        self._runner.interfere(self._simulation.reset, mends=True)


def _code(error: TactileSimError) -> int:
    if isinstance(error, Refusal):
        return error.code
    return Result.RESULT_NOT_FOUND if isinstance(error, SceneError) else Result.RESULT_OPERATION_FAILED

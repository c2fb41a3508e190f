"""Services of ``simulation_interfaces``. Import this module only if that package is installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from rclpy.node import Node
from simulation_interfaces import srv
from simulation_interfaces.msg import Result, SimulationState, SimulatorFeatures

import tactile_sim
from tactile_sim.common.errors import CommandError, SceneError, TactileSimError
from tactile_sim.loop.requests import Requests
from tactile_sim.loop.runner import Runner
from tactile_sim.ros.deferred import DeferredService
from tactile_sim.ros.entities import Entities, Refusal, unsupported


class SimulationInterfaces:
    """Offers the supported services of ``simulation_interfaces``, with names relative to the namespace."""

    def __init__(self, node: Node, runner: Runner, requests: Requests):
        self._runner, self._requests = runner, requests
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
        self._serve(node, "StepSimulation", lambda request: requests.ask("step", request.steps))

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
        return self._requests.ask("reset")

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

"""Run actions that users request while a simulation is running."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from tactile_sim.common.errors import CommandError, suggest
from tactile_sim.loop.runner import Runner
from tactile_sim.simulation.actions import ACTIONS


class Requests:
    """Runs the actions defined in `ACTIONS` in the loop's thread."""

    def __init__(self, runner: Runner):
        self._runner = runner

    def ask(self, name: str, *arguments: Any) -> Future:
        """Request an action. Any thread can call this method.

        Args:
            name: Name of the action.
            arguments: Arguments of the action. Trailing arguments with defaults can be omitted.

        Returns:
            A future with the result of the action, or with a TactileSimError if it is rejected.
        """

        def work() -> Any:
            if name not in ACTIONS:
                raise CommandError(f"unknown action {name!r}{suggest(name, ACTIONS)}")
            action = ACTIONS[name]
            return action.function(self._runner, *action.values(arguments))

        return self._runner.call(work)

"""What users ask of a running simulation, by whatever way they ask."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from tactile_sim.errors import CommandError, suggest
from tactile_sim.loop.runner import Runner
from tactile_sim.simulation.actions import ACTIONS


class Requests:
    """Runs the actions of `ACTIONS` in the thread of the loop."""

    def __init__(self, runner: Runner):
        self._runner = runner

    def ask(self, name: str, *arguments: Any) -> Future:
        """Start an action from any thread.

        Args:
            name: Name of the action.
            arguments: Its arguments; those at the end may be left out where they have defaults.

        Returns:
            The future of what the action returns, or of the TactileSimError that refuses it.
        """

        def work() -> Any:
            if name not in ACTIONS:
                raise CommandError(f"there is no action {name!r}{suggest(name, ACTIONS)}")
            action = ACTIONS[name]
            return action.function(self._runner, *action.values(arguments))

        return self._runner.call(work)

"""The class `Action`, and the interfaces of the loop in which actions run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tactile_sim.common.errors import CommandError

if TYPE_CHECKING:  # not imported at run time, because it takes a second to load
    from tactile_sim.bag.writer import BagStatus
    from tactile_sim.simulation import Simulation


class Recorder(Protocol):
    """Interface of an object that records the simulation to bags.

    Attributes:
        on_status: Called in another thread with the status of a recording, at least when it ends.
    """

    on_status: Callable[[BagStatus], None]

    def record(self, on: bool) -> None:
        """Start or stop a recording."""


class Loop(Protocol):
    """The loop that steps the simulation. Actions run in its thread, between two steps."""

    simulation: Simulation
    paused: bool
    recorder: Recorder | None
    on_view: list[Callable[[str], None]]

    def pause(self, paused: bool) -> None:
        """Pause or resume the simulation."""

    def request_steps(self, steps: int) -> Future[int]:
        """Advance a simulation that is paused or in lock-step.

        Returns:
            A future of the stamp [ns] after the steps.
        """

    def command(self, work: Callable[[], None]) -> None:
        """Apply a command. In lock-step mode, the simulation then advances by one step.

        Args:
            work: Function that applies the command.
        """

    def interfere(self, work: Callable[[], Any], *, mends: bool = False) -> Any:
        """Change the state of the simulation directly rather than through the physics.

        Args:
            work: Function that changes the state.
            mends: Whether the change clears a physics fault.
        """

    def set_parameter(self, name: str, value: Any) -> Future[None] | None:
        """Set a live parameter. With ROS, the change is complete when the returned future is done."""


@dataclass(frozen=True)
class Action:
    """An action that users can request. Its name, arguments and description come from `function`."""

    function: Callable[..., Any]
    """Called with the loop and the arguments. Returns a line of text for the user, a stamp [ns], None, or a
    future of one of these. If it raises a TactileSimError, the request is rejected."""
    service: str = ""
    """Type of the ROS service ``~/name``; empty for none. The fields of its request are the arguments, in
    order."""
    key: str = ""
    """Terminal key that starts the action with its default arguments; empty for none."""
    label: str = ""
    """Short label for the key and for the button in the browser."""
    button: bool = False
    """True if the browser has a button that starts the action with its default arguments."""
    available: Callable[[Simulation], bool] = lambda simulation: True
    """Function that returns whether the button is shown for a simulation."""
    answered: bool = True
    """Whether browsers show the result of the action. It is False if the effect is visible anyway."""

    @property
    def name(self) -> str:
        """Name under which the action is requested: the name of its function."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """First line of the function's docstring."""
        return inspect.cleandoc(self.function.__doc__ or "").splitlines()[0]

    @cached_property
    def arguments(self) -> dict[str, inspect.Parameter]:
        """Parameters of the function except the first one, which is the loop, keyed by name."""
        parameters = inspect.signature(self.function, eval_str=True).parameters
        return dict(list(parameters.items())[1:])

    def values(self, given: Sequence[Any]) -> list[Any]:
        """Convert arguments to their declared types and add defaults for missing ones.

        Args:
            given: Arguments in the order of `arguments`; trailing ones may be missing.

        Raises:
            CommandError: The number of arguments or a type is wrong.
        """
        wanted = list(self.arguments.values())
        given = [*given, *(argument.default for argument in wanted[len(given) :])]
        if len(given) != len(wanted) or any(value is inspect.Parameter.empty for value in given):
            raise CommandError(f"{self.name}: expected the arguments {', '.join(self.arguments) or 'none'}")
        return [self._value(argument, value) for argument, value in zip(wanted, given, strict=True)]

    def _value(self, argument: inspect.Parameter, value: Any) -> Any:
        kind = argument.annotation
        try:
            if kind is np.ndarray:
                return np.array(value, float)
            if kind is float and isinstance(value, int) and not isinstance(value, bool):
                return float(value)
            if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
                return value
        except (TypeError, ValueError):
            pass
        raise CommandError(f"{self.name}: {argument.name} must be a {kind.__name__}, got {value!r}")

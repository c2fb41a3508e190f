"""Match the entries of ``skin.state`` with the pads of a skin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tactile_sim.errors import ConfigError, ErrorList
from tactile_sim.patterns import match
from tactile_sim.skin.state import ContactThresholds

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings


def resolve_states(settings: Settings, pads: Sequence[str]) -> dict[str, ContactThresholds]:
    """Return the thresholds of each pad in ``skin.state``, keyed by pad name.

    Args:
        settings: Configuration with the table ``skin.state``.
        pads: Names of all pads.

    Raises:
        ConfigError: A pattern matches no pad, or a pad's thresholds contradict each other.
        ConfigErrors: There are several such entries.
    """
    where, table = f"{settings.source}: skin.state", settings.skin.state
    errors, thresholds, chosen = ErrorList(), {}, {}
    for pattern, keys in table.items():
        try:
            thresholds[pattern] = ContactThresholds(**keys)
        except ValueError as error:
            errors.add(ConfigError(f"{where}.{pattern}.{error}"))
    with errors.collect():
        chosen = match(table, pads, where, "pad")
    errors.check()
    return {pad: thresholds[entry] for pad, entry in chosen.items()}

"""Reduce the memory of stages that are never switched on or off."""

from __future__ import annotations

from dataclasses import replace

from tactile_sim.signal_chain.codes import Codes
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.stage import Stage


def compact(groups: dict[type[Stage], Group]) -> dict[type[Stage], Group]:
    """Return groups whose stages need less memory and give the same readings.

    No stage may be switched on or off afterwards.

    Args:
        groups: Group of pads for each stage, in the order of the stages.

    Returns:
        The groups, with `Group.linked`, `Group.recalled` and `Group.codes` set.
    """
    made: dict[type[Stage], Group] = {}
    recalled: set[str] = set()
    codes: dict[str, Codes | None] = {}
    for stage, group in groups.items():
        pads = [(pad.name, own) for pad, own in zip(group.bodies, group.stages, strict=True)]
        inputs = {codes.get(name) for name, _ in pads}
        made[stage] = replace(
            group,
            linked=stage.recalls and all(name in recalled for name, _ in pads),
            recalled=stage.recalls,
            codes=inputs.pop() if len(inputs) == 1 else None,
        )
        for name, own in pads:
            if own.enabled:
                codes[name] = own.output_codes(codes.get(name))
            if own.enabled and stage.recalls:
                recalled.add(name)
            else:
                recalled.discard(name)
    return made

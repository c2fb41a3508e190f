"""Bodies as the entities of ``simulation_interfaces``; to be imported only where that is installed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from simulation_interfaces.msg import Bounds, EntityCategory, EntityInfo, EntityState, Result
from simulation_interfaces.srv import SetEntityState
from std_msgs.msg import Header

from tactile_sim.errors import CommandError, SceneError, suggest
from tactile_sim.loop.runner import Runner
from tactile_sim.ros.rows import as_pose, as_time, as_twist, pose_row, twist_row
from tactile_sim.simulation.body_states import BodyStates
from tactile_sim.text import counted


class Refusal(CommandError):
    """A request that the standard has a code of its own for."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code


def unsupported(text: str) -> Refusal:
    """The refusal of what this simulator does not do."""
    return Refusal(Result.RESULT_FEATURE_UNSUPPORTED, text)


class Entities:
    """The bodies of the scene but the world, by the names that they have everywhere else.

    Each method takes a request and gives the fields of the answer, in the thread of the loop.
    """

    def __init__(self, runner: Runner):
        self._runner = runner
        self._simulation = simulation = runner.simulation
        self._names = simulation.names.bodies[1:]
        self._states = BodyStates(simulation.engine)

    def names(self, request: Any) -> dict[str, Any]:
        """``get_entities``"""
        return {"entities": self._matching(request.filters)}

    def states(self, request: Any) -> dict[str, Any]:
        """``get_entities_states``"""
        names = self._matching(request.filters)
        return {"entities": names, "states": self._read(names)}

    def state(self, request: Any) -> dict[str, Any]:
        """``get_entity_state``"""
        return {"state": self._read([request.entity])[0]}

    def info(self, request: Any) -> dict[str, Any]:
        """``get_entity_info``"""
        body, model = self._id(request.entity), self._simulation.engine.model
        category = self._category(request.entity)
        kinds = {
            EntityCategory.CATEGORY_STATIC_OBJECT: "fixed",
            EntityCategory.CATEGORY_DYNAMIC_OBJECT: "free",
        }
        told = [kinds.get(category, "jointed"), f"{model.body_mass[body]:.4g} kg"]
        told += [
            counted(skin.stop - skin.start, "taxel")
            for skin in self._simulation.skin.pads
            if skin.body_id == body
        ]
        return {"info": EntityInfo(category=EntityCategory(category=category), description=", ".join(told))}

    def set_state(self, request: Any) -> None:
        """``set_entity_state``"""
        body, simulation = self._id(request.entity), self._simulation
        if body not in simulation.engine.free_bodies:
            raise CommandError(
                f"body {request.entity!r} has no free joint; only a free body can be put somewhere"
            )
        frame, world = request.state.header.frame_id, simulation.settings.world_frame
        if frame not in ("", world):
            raise CommandError(f"a state is set in the frame {world!r}, not in {frame!r}")
        state = self._states.read([body])[0]
        # Flags came with version 2.1; before, a request sets both.
        if getattr(request, "set_pose", True):
            state[:7] = pose_row(request.state.pose)
            if not (np.isfinite(state[:7]).all() and state[3:7].any()):
                raise Refusal(
                    SetEntityState.Response.INVALID_POSE,
                    f"the pose of {request.entity!r} needs finite numbers and an orientation that is not all "
                    "zeros; no rotation is x: 0, y: 0, z: 0, w: 1",
                )
        if getattr(request, "set_twist", True):
            state[7:] = twist_row(request.state.twist)
        parts = np.split(state, [3, 7, 10])
        self._runner.interfere(lambda: simulation.set_body_state(request.entity, *parts))

    def _matching(self, filters: Any) -> list[str]:
        """Names of those that pass the filters."""
        if filters.tags.tags:
            raise unsupported("entities have no tags here")
        if filters.bounds.type != Bounds.TYPE_EMPTY:
            raise unsupported("entities have no bounds here")
        try:
            pattern = re.compile(filters.filter)
        except re.error as error:
            raise CommandError(f"the filter {filters.filter!r} is no regular expression: {error}") from None
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
            for row in self._states.read(map(self._id, names))
        ]

    def _id(self, name: str) -> int:
        if name not in self._names:
            raise SceneError(f"the scene has no body named {name!r}{suggest(name, self._names)}")
        return self._simulation.names.body_id(name)

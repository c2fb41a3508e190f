"""Entity requests of ``simulation_interfaces``. Import this module only if that package is installed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from simulation_interfaces.msg import Bounds, EntityCategory, EntityInfo, EntityState, Result
from simulation_interfaces.srv import SetEntityState
from std_msgs.msg import Header

from tactile_sim.common.errors import CommandError, SceneError, suggest
from tactile_sim.common.text import counted
from tactile_sim.loop.runner import Runner
from tactile_sim.ros.conversions import as_pose, as_time, as_twist, pose_row, twist_row


class Refusal(CommandError):
    """Error that rejects a request, with a result code from ``simulation_interfaces``."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code


def unsupported(text: str) -> Refusal:
    """Return an error with the result code for unsupported features.

    Args:
        text: Error message.
    """
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

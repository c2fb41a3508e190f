"""Names of a model's elements, including unnamed ones, and topic names derived from them."""

from __future__ import annotations

import re

import mujoco

from tactile_sim.actuators import control_spans, count_actuators
from tactile_sim.arguments import known
from tactile_sim.errors import SceneError


class Names:
    """Names of a model's bodies, geoms, joints, actuators, keyframes and equalities, as lists indexed by id.

    Elements without a name in the scene get a generated one: ``body<id>``, ``<body>/geom<k>``,
    ``<body>/joint<k>``, ``actuator<id>``, ``key<id>`` (keyframes) or ``equality<id>``. The number k counts
    all geoms or joints of the body from 0, in the order of their ids. Body 0 is ``world``. For the names of
    sensors, see `tactile_sim.scenes.contact_sensors`.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        kind = mujoco.mjtObj
        self._ids: dict[str, dict[str, int]] = {}
        self.bodies = self._name(model, "body", kind.mjOBJ_BODY, [f"body{i}" for i in range(model.nbody)])
        geoms = [f"{self.bodies[b]}/geom{i - model.body_geomadr[b]}" for i, b in enumerate(model.geom_bodyid)]
        self.geoms = self._name(model, "geom", kind.mjOBJ_GEOM, geoms)
        joints = [f"{self.bodies[b]}/joint{i - model.body_jntadr[b]}" for i, b in enumerate(model.jnt_bodyid)]
        self.joints = self._name(model, "joint", kind.mjOBJ_JOINT, joints)
        actuators = [f"actuator{i}" for i in range(count_actuators(model))]
        self.actuators = self._name(model, "actuator", kind.mjOBJ_ACTUATOR, actuators)
        self.controls = [f"actuator{i}" for i in range(model.nu)]
        """Names of the controls: the actuator's name, plus ``/0``, ``/1``, ... if it has several controls."""
        for name, (first, count) in zip(self.actuators, control_spans(model), strict=True):
            own = [name] if count == 1 else [f"{name}/{k}" for k in range(count)]
            self.controls[first : first + count] = own
        keyframes = [f"key{i}" for i in range(model.nkey)]
        self.keyframes = self._name(model, "keyframe", kind.mjOBJ_KEY, keyframes)
        equalities = [f"equality{i}" for i in range(model.neq)]
        self.equalities = self._name(model, "equality", kind.mjOBJ_EQUALITY, equalities)

    def _name(self, model: mujoco.MjModel, word: str, kind: mujoco.mjtObj, made: list[str]) -> list[str]:
        """Return the names by id, from the scene or generated. Lookups prefer names from the scene."""
        given = [mujoco.mj_id2name(model, kind, i) for i in range(len(made))]
        self._ids[word] = {made[i]: i for i, name in enumerate(given) if not name}
        self._ids[word] |= {name: i for i, name in enumerate(given) if name}
        if word in ("body", "joint") and len(self._ids[word]) < len(made):
            twice = next(name for i, name in enumerate(made) if not given[i] and name in given)
            raise SceneError(
                f"an unnamed {word} of the scene is called {twice!r}, like another one; give it a name"
            )
        return [name or made[i] for i, name in enumerate(given)]

    def body_id(self, name: str) -> int:
        """Return the id of a body."""
        return self._id("body", name)

    def geom_id(self, name: str) -> int:
        """Return the id of a geom; see `body_id`."""
        return self._id("geom", name)

    def joint_id(self, name: str) -> int:
        """Return the id of a joint; see `body_id`."""
        return self._id("joint", name)

    def actuator_id(self, name: str) -> int:
        """Return the id of an actuator; see `body_id`."""
        return self._id("actuator", name)

    def keyframe_id(self, name: str) -> int:
        """Return the id of a keyframe; see `body_id`."""
        return self._id("keyframe", name)

    def equality_id(self, name: str) -> int:
        """Return the id of an equality constraint; see `body_id`."""
        return self._id("equality", name)

    def _id(self, word: str, name: str) -> int:
        ids = self._ids[word]
        return ids[known(f"the scene has no {word} named", name, ids, SceneError)]


def topic_token(name: str) -> str:
    """Convert a name to one token of a ROS topic name.

    Characters that ROS does not allow become ``_``, and ``_`` is inserted before a leading digit.
    """
    token = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return token if token and not token[0].isdigit() else "_" + token

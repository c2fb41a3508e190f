"""Names of a model's elements, topics and actuators' controls, and patterns that match names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import mujoco
import numpy as np

from tactile_sim.common.errors import ConfigError, ErrorList, SceneError
from tactile_sim.common.schema import known


def count_actuators(model: mujoco.MjModel) -> int:
    """Return the number of actuators in a model, which can differ from the number of controls ``nu``."""
    return getattr(model, "nactuator", model.nu)


def control_spans(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Return, for each actuator, the index of its first control in ``ctrl`` and its number of controls."""
    if not hasattr(model, "actuator_ctrladr"):
        return [(control, 1) for control in range(model.nu)]
    return list(zip(model.actuator_ctrladr.tolist(), model.actuator_ctrlnum.tolist(), strict=True))


def first_outputs(model: mujoco.MjModel) -> np.ndarray:
    """Return the index (nactuator,) of each actuator's first output.

    The row of ``actuator_gear`` for this output has the same index.
    """
    return getattr(model, "actuator_outadr", np.arange(model.nu))


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


def match(
    table: Mapping[str, Any],
    names: Sequence[str],
    where: str,
    kind: str,
    candidates: Sequence[str] | None = None,
) -> dict[str, str]:
    """Find the table key that applies to each element, and return the keys by element name.

    Exact names take precedence over patterns, and patterns with more literal characters over patterns with
    fewer. Elements to which no key applies are not in the result.
    """
    errors = ErrorList()
    candidates = names if candidates is None else candidates
    chosen: dict[str, str] = {}
    known = set(names)
    patterns = sorted(
        (entry for entry in table if entry not in known), key=lambda entry: (_literals(entry), entry)
    )
    for pattern in patterns:
        matches = [name for name in candidates if fnmatchcase(name, pattern)] if is_pattern(pattern) else []
        if not matches:
            what = (
                f"no {kind} matches the pattern" if is_pattern(pattern) else f"the scene has no {kind} named"
            )
            errors.add(ConfigError(f"{where}.{pattern}: {what} {pattern!r}", near=(pattern, candidates)))
        for name in matches:
            rival = chosen.get(name, pattern)
            differ = table[rival] != table[pattern] and _literals(rival) == _literals(pattern)
            if differ and name not in table:
                errors.add(
                    ConfigError(
                        f"{where}: the patterns {rival!r} and {pattern!r} have different values for the"
                        f" {kind} {name!r}; add its exact name"
                    )
                )
                break
            chosen[name] = pattern
    errors.check()
    return chosen | {entry: entry for entry in table if entry in known}


def is_pattern(entry: str) -> bool:
    """Tell whether a key is a shell pattern rather than a name."""
    return any(character in entry for character in "*?[")


def _literals(pattern: str) -> int:
    """Return the number of literal characters in a shell pattern."""
    literals, in_set = 0, False
    for character in pattern:
        in_set = character == "[" or (in_set and character != "]")
        literals += not in_set and character not in "*?]"
    return literals

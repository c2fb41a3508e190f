"""A sledge with all kinds of contact sensors, and the expected readings computed contact by contact."""

from __future__ import annotations

import itertools
from functools import cache

import mujoco
import numpy as np

from tactile_sim.engines import Engine, load

FIELDS = {"found": 1, "force": 3, "torque": 3, "dist": 1, "pos": 3, "normal": 3, "tangent": 3}
REDUCTIONS = ("none", "mindist", "maxforce", "netforce")
NUMS = (1, 3, 10)
PAIRS = {
    "geoms": {"geom1": "floor", "geom2": "foot0"},
    "geoms the other way": {"geom1": "foot0", "geom2": "floor"},
    "bodies": {"body1": "world", "body2": "feet"},
    "bodies the other way": {"body1": "feet", "body2": "world"},
    "subtrees": {"subtree1": "world", "subtree2": "sledge"},
    "subtrees the other way": {"subtree1": "sledge", "subtree2": "world"},
    "mixed": {"subtree1": "sledge", "geom2": "floor"},
    "one side": {"body1": "feet"},
    "the other side": {"body2": "feet"},
    "a site": {"site": "zone"},
    "a site and a side": {"site": "zone", "geom2": "floor"},
    "not in touch": {"geom1": "floor", "geom2": "far"},
}
SUBSETS = [[*s] for n in range(1, 8) for s in itertools.combinations(FIELDS, n)]


def sledge(feet: int, sensors: str = "") -> str:
    """Return a scene in which a body slides and spins on ``feet`` balls that belong to its child body."""
    balls = "".join(
        f'<geom name="foot{k}" size="{0.02 + 0.002 * k}"'
        f' pos="{0.1 * np.cos(k)} {0.09 * np.sin(k)} {0.002 * k}"/>'
        for k in range(feet)
    )
    return f"""
    <mujoco><option timestep="0.002" cone="elliptic"/>
    <default><geom condim="6" friction="0.6 0.02 0.01" margin="0.02"/></default>
    <worldbody>
      <geom name="floor" type="plane" size="5 5 .1"/>
      <site name="zone" type="box" size=".06 5 5"/>
      <body name="sledge" pos="0 0 .019"><freejoint/>
        <geom name="hull" type="box" size=".1 .1 .01" pos="0 0 .1" mass="2" contype="0" conaffinity="0"/>
        <body name="feet">{balls}<geom name="far" size=".01" pos="0 0 1"/></body></body>
    </worldbody><sensor>{sensors}</sensor></mujoco>"""


def tag(name: str, pair: dict[str, str], data: list[str], num: int, reduce: str) -> str:
    """Return the MJCF of a ``<contact>`` sensor."""
    objects = " ".join(f'{key}="{value}"' for key, value in pair.items())
    return f'<contact name="{name}" {objects} data="{" ".join(data)}" num="{num}" reduce="{reduce}"/>'


def table() -> dict[str, tuple[dict[str, str], list[str], int, str]]:
    """Return the test cases: attributes that select the objects, fields, ``num`` and ``reduce``, by name.

    They include every entry of `PAIRS` with every reduction and number of slots, and every subset of fields.
    """
    cases = {}
    for number, (pair, reduce, num) in enumerate(itertools.product(PAIRS, REDUCTIONS, NUMS)):
        data = SUBSETS[number % len(SUBSETS)]
        cases[f"{pair}, {reduce}, {num}"] = (PAIRS[pair], data, num, reduce)
    for number, data in enumerate(SUBSETS):
        reduce = REDUCTIONS[number % 4]
        cases[f"{' '.join(data)}, {reduce}"] = (PAIRS["bodies the other way"], data, 3, reduce)
    return cases


CASES = table()


@cache
def sliding(feet: int, tmp: str, engine_name: str = "mujoco") -> Engine:
    """Return an engine with a sledge and one sensor for each test case.

    With feet, the sledge slides over the floor. Without feet, it is in the air. Cases that name a foot are
    then omitted.
    """
    present = {name: case for name, case in CASES.items() if feet or "foot0" not in case[0].values()}
    file = f"{tmp}/sledge{feet}.xml"
    with open(file, "w") as out:
        out.write(sledge(feet, "".join(tag(name, *case) for name, case in present.items())))
    engine = load(file, engine_name)
    if feet:
        engine.data.qvel[:] = 0.4, -0.3, 0.0, 0.2, 0.1, 3.0
        engine.step(8)
    else:
        engine.data.qpos[2] = 3.0
    engine.forward()
    return engine


# -- independent computation of the readings -------------------------------------------------------------


def is_of(model: mujoco.MjModel, geom: int, key: str | None, name: str | None) -> bool:
    """Return whether a geom belongs to the object selected by a key and a name."""
    if key is None or key == "site":
        return True
    if key.startswith("geom"):
        return model.geom(geom).name == name
    body = int(model.geom_bodyid[geom])
    if key.startswith("body"):
        return model.body(body).name == name
    while body and model.body(body).name != name:
        body = int(model.body_parentid[body])
    return model.body(body).name == name


def raw_contacts(engine: Engine, pair: dict[str, str]) -> list[dict]:
    """Return the contacts that match a pair, in the engine's order, directed from object 1 to object 2."""
    model, data = engine.model, engine.data
    first = next((key for key in pair if key[-1] in "1e"), None)
    second = next((key for key in pair if key.endswith("2")), None)
    found = []
    for c in range(data.ncon):
        contact = data.contact[c]
        one, two = (int(g) for g in contact.geom)
        if "site" in pair:
            site = model.site(pair["site"])
            if (np.abs(contact.pos - data.site(site.id).xpos) > site.size).any():
                continue
        sign = 0
        for order, (g1, g2) in ((1, (one, two)), (-1, (two, one))):
            if (
                not sign
                and is_of(model, g1, first, pair.get(first))
                and is_of(model, g2, second, pair.get(second))
            ):
                sign = order
        if not sign:
            continue
        wrench = np.zeros(6)
        mujoco.mj_contactForce(model, data, c, wrench)
        frame = contact.frame.reshape(3, 3)
        found.append(
            {
                "force": sign * frame.T @ wrench[:3],
                "torque": sign * frame.T @ wrench[3:],
                "dist": contact.dist,
                "pos": contact.pos.copy(),
                "normal": sign * frame[0],
                "tangent": frame[1],
            }
        )  # fmt: skip
    return found


def reduced(contacts: list[dict], num: int, reduce: str) -> list[dict]:
    """Return the contacts that a sensor reports after its reduction."""
    if reduce == "netforce":
        return [net(contacts)] if contacts else []
    if reduce == "mindist":
        contacts = sorted(contacts, key=lambda contact: contact["dist"])
    if reduce == "maxforce":
        contacts = sorted(contacts, key=lambda contact: -np.linalg.norm(contact["force"]))
    return contacts[:num]


def net(contacts: list[dict]) -> dict:
    """Combine contacts into one net contact, whose normal and tangent are axes of the world."""
    weights = np.array([np.linalg.norm(contact["force"]) for contact in contacts])
    # If all forces are zero, MuJoCo reports the origin as position.
    pos = weights @ [contact["pos"] for contact in contacts] / max(weights.sum(), 1e-300)
    levers = [np.cross(contact["pos"] - pos, contact["force"]) for contact in contacts]
    return {
        "force": sum(contact["force"] for contact in contacts),
        "torque": sum(contact["torque"] for contact in contacts) + sum(levers),
        "dist": 0.0,
        "pos": pos,
        "normal": np.array([1.0, 0, 0]),
        "tangent": np.array([0, 1.0, 0]),
    }

"""Invalid arguments of `Skin` raise errors that name them."""

from __future__ import annotations

from dataclasses import fields

import mujoco
import numpy as np
import pytest
from support.errors import raises

from tactile_sim import CommandError, ConfigError, SceneError
from tactile_sim.config.settings import SkinSettings
from tactile_sim.engines.contacts import Contacts, read_contacts
from tactile_sim.skin import TOUCH_FUNCTIONS, Loads, Shares, Skin, TouchFunction
from tactile_sim.skin.pads import PadPlan

MODEL = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
    <body name="box" pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    </worldbody></mujoco>""")
BAD = [None, "x", True, float("nan"), -1, [], [[1, 2], [3]], {"x": 1}, 1j, b"x", 10**30, np.array(["a"]),
       np.full(3, np.nan), np.zeros((2, 3), int), object(), lambda: 0]  # fmt: skip


@pytest.fixture(scope="module")
def skin():
    return Skin(MODEL, {1: 0.05})


@pytest.fixture(scope="module")
def state():
    """Return the contacts, positions and rotations of a box on a plane."""
    data = mujoco.MjData(MODEL)
    mujoco.mj_step(MODEL, data, 100)
    mujoco.mj_forward(MODEL, data)
    contacts = read_contacts(MODEL, data)
    assert len(contacts)
    return contacts, data.xpos, data.xmat.reshape(-1, 3, 3)


def changed(contacts, row, column, value):
    ids = contacts.ids.copy()
    ids[row, column] = value
    return Contacts(contacts.values, ids)


def altered(loads, field, value):
    copy = Loads(loads.table.copy())
    getattr(copy, field)[0] = value
    return copy


@pytest.mark.parametrize("method", ["readings_from_contacts", "loads", "outside", "body_wrenches", "world"])
def test_invalid_state_is_rejected(skin, state, method):
    contacts, positions, rotations = state
    call = getattr(skin, method)
    first = () if method == "world" else (contacts,)
    for bad in [*BAD, positions[:1], positions.T, positions.astype(np.float16), positions.tolist()]:
        with raises(CommandError, "body_positions", "(2, 3)"):
            call(*first, bad, rotations)
        with raises(CommandError, "body_rotations", "(2, 3, 3)"):
            call(*first, positions, bad)
    if method == "world":
        for bad in [*BAD[1:], positions, np.empty((len(skin.positions), 3), int)]:
            with raises(CommandError, "out"):
                call(positions, rotations, bad)
    else:
        values, ids = contacts.values, contacts.ids
        wrong = [(values[1:], ids), (values[:, 1:], ids), (values, ids[:, 1:]), (values, ids.astype(float)),
                 (None, ids), (values, "x"), (values.astype(int), ids)]  # fmt: skip
        for bad in [*BAD, values, *(Contacts(*arrays) for arrays in wrong)]:
            with raises(CommandError, "contacts"):
                call(bad, positions, rotations)


@pytest.mark.parametrize("column", [*range(4)])
@pytest.mark.parametrize("value", [2, -2, 2**30])
def test_contacts_of_another_model_are_rejected(skin, state, column, value):
    contacts, *poses = state
    for method in (skin.readings_from_contacts, skin.loads, skin.body_wrenches):
        with raises(CommandError, "contacts", "another model"):
            method(changed(contacts, -1, column, value), *poses)


@pytest.mark.parametrize(
    "method", ["readings_from_loads", "shares", "inside", "spread", "nearest", "taxels_near_loads"]
)
def test_invalid_loads_are_rejected(skin, state, method):
    more = {"spread": (1,), "taxels_near_loads": (0.1,)}.get(method, ())
    loads = skin.loads(*state)
    others = [
        *(altered(loads, name, value) for name in ("patch", "body") for value in (-1, 1, 2**40)),
        *(altered(loads, name, value) for name in ("other", "other_body") for value in (-2, 2, 2**40)),
    ]
    for bad in [*BAD, *others, Loads(None), Loads(np.zeros(3)), Loads(loads.table[0]), loads.table]:
        with raises(CommandError, "loads"):
            getattr(skin, method)(bad, *more)


@pytest.mark.parametrize("dtype", [int, np.float16, "x", object, 3, {}, []])
def test_invalid_type_of_readings_is_rejected(skin, state, dtype):
    loads = skin.loads(*state)
    for call in (
        lambda: skin.readings_from_contacts(*state, dtype=dtype),
        lambda: skin.readings_from_loads(loads, dtype=dtype),
    ):
        with raises(CommandError, "dtype", "float32"):
            call()


def test_invalid_functions_are_rejected(skin, state):
    loads, force = skin.loads(*state), TOUCH_FUNCTIONS["force_vector"]
    for call in (
        lambda touch: skin.readings_from_contacts(*state, touch),
        lambda touch: skin.readings_from_loads(loads, touch),
    ):
        for bad in BAD:
            with raises(ConfigError, "skin.touch_function"):
                call(bad)
        for change in ({"channels": 1}, {"channels": 5}, {"channels": "x"}, {"mean": 1}, {"mean": []},
                       {"channels": np.zeros(3)}, {"evaluate": 3}, {"factor": 3},
                       {"frame": "bod"}, {"frame": "taxel", "channels": 2, "evaluate": lambda loads: loads},
                       {"factor": lambda skin: 3}, {"channels": -1, "evaluate": lambda loads: loads},
                       {"evaluate": lambda loads: "x"}):  # fmt: skip
            with pytest.raises(ConfigError):
                call(force._replace(**change))
    for call in (lambda response: skin.readings_from_contacts(*state, "normal", response),
                 lambda response: skin.readings_from_loads(loads, "normal", response),
                 lambda response: skin.shares(loads, response), lambda response: skin.inside(loads, response),
                 lambda response: skin.outside(*state, response)):  # fmt: skip
        for bad in BAD[:-1]:
            with raises(ConfigError, "skin.response_function"):
                call(bad)


def test_unhashable_functions_are_valid(skin, state):
    class Function:
        __hash__ = None

        def __call__(self, *given):
            return given[0].shares(given[1], "nearest") if len(given) == 2 else given[0].force

    touch = TouchFunction(3, "N", Function())
    np.testing.assert_array_equal(
        skin.readings_from_contacts(*state, touch, Function()),
        skin.readings_from_contacts(*state, "force_vector", "nearest"),
    )


def test_invalid_shares_as_argument_are_rejected(skin, state):
    loads = skin.loads(*state)
    begin, taxel, weight = shares = skin.shares(loads, "nearest")
    number = len(skin.positions)
    for bad in (Shares(begin, taxel + number, weight), Shares(begin, taxel - number, weight),
                Shares(begin + 1, taxel, weight), Shares(begin[::-1], taxel, weight),
                Shares(begin, taxel[1:], weight[1:]), Shares(begin, taxel, weight[1:]), Shares(None, 1, "x"),
                (loads, None), (loads, {}), (1, 2, 3), ()):  # fmt: skip
        with raises(ConfigError, "response"):
            skin.readings_from_loads(loads, "normal", bad)
    with raises(CommandError, "loads"):
        skin.readings_from_loads(loads, "normal", (None, shares))


def test_invalid_reach_and_law_are_rejected(skin, state):
    loads = skin.loads(*state)
    for bad in [*BAD, [0.1], np.full(len(loads), np.nan), np.full(len(loads), -1.0)]:
        with raises(CommandError, "reach"):
            skin.taxels_near_loads(loads, bad)
        with raises(CommandError, "limit"):
            skin.taxels_within(0, np.zeros((2, 3)), bad)
        with raises(CommandError, "law"):
            skin.spread(loads, bad)
    with raises(CommandError, "law", "4"):
        skin.spread(loads, 4)
    np.testing.assert_array_equal(
        skin.taxels_near_loads(loads, [0.1] * len(loads)).taxel, skin.taxels_near_loads(loads, 0.1).taxel
    )


def test_invalid_queries_are_rejected(skin):
    for bad in [bad for bad in BAD if not isinstance(bad, np.ndarray) or bad.dtype.kind == "U"]:
        for query in (skin.nearest_taxels, lambda *given: skin.k_nearest_taxels(*given, 2),
                      lambda *given: skin.taxels_within(*given, 0.1)):  # fmt: skip
            with raises(CommandError, "points"):
                query(0, bad)
            with raises(CommandError, "points"):
                query(0, [0.0, np.nan, 0.0])
            with raises(SceneError, "patch"):
                query(bad, np.zeros(3))
        with raises(CommandError, "k:"):
            skin.k_nearest_taxels(0, np.zeros(3), bad)
    assert skin.k_nearest_taxels(0, np.zeros(3), 0)[0].shape == (1, 0)


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_invalid_arguments_of_the_constructor_are_rejected(bad):
    for key in ("placement", "kind", "distance", "stiffness", "thickness", "pads"):
        valid = callable(bad) if key == "kind" else key == "pads" and isinstance(bad, list) and not bad
        if not valid:
            with raises(ConfigError, f"skin.{key}"):
                Skin(MODEL, {1: 0.05}, **{key: bad})
    for scales in (bad, {1: bad}, {"x": 0.1}, {True: 0.1}):
        with raises(SceneError, "skin.scales"):
            Skin(MODEL, scales)
    with raises(SceneError, "model"):
        Skin(bad, {1: 0.05})


def test_too_many_taxels_are_rejected_before_they_are_placed():
    for kind in ("mesh", "geom"):
        with raises(ConfigError, "skin.scales.", "1e-09"):
            Skin(MODEL, {1: 1e-9}, kind=kind)
    with raises(ConfigError, "pads.p.spacing", "1e-09"):
        Skin(MODEL, {1: 0.05}, pads=[PadPlan("p", 1, "pads.p", 1e-9)])


def test_pad_with_unknown_body_or_invalid_spacing_is_rejected():
    with raises(ConfigError, "pads.p", "body", "2"):
        Skin(MODEL, {}, pads=[PadPlan("p", 2, "pads.p", 0.05)])
    for spacing in (0.0, -1.0, float("nan"), None):
        with raises(ConfigError, "pads.p.spacing"):
            Skin(MODEL, {}, pads=[PadPlan("p", 1, "pads.p", spacing)])


@pytest.mark.parametrize("key", ["stiffness", "thickness"])
def test_bounds_of_the_layer_are_those_of_the_configuration(key):
    bounds = next(field.metadata["check"] for field in fields(SkinSettings) if field.name == key)
    for value in (bounds.least, bounds.most):
        assert getattr(Skin(MODEL, {1: 0.2}, **{key: value}), f"patch_{key}").tolist() == [value]
    for value in (0.999 * bounds.least, 1.001 * bounds.most):
        with raises(ConfigError, f"skin.{key}", f"{value:g}"):
            Skin(MODEL, {1: 0.2}, **{key: value})

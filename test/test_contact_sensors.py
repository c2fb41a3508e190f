"""Contact sensors against an independent computation from the raw contacts, one contact at a time."""

from __future__ import annotations

import itertools
import re
import timeit
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tactile_sim import ConfigError, EngineError, SceneError
from tactile_sim.cli import main
from tactile_sim.engines import ContactSensor, Engine, MujocoEngine, load

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
    """A body that slides and spins over the floor on up to eight balls, among them some on its child."""
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
    objects = " ".join(f'{key}="{value}"' for key, value in pair.items())
    return f'<contact name="{name}" {objects} data="{" ".join(data)}" num="{num}" reduce="{reduce}"/>'


def table() -> dict[str, tuple[dict[str, str], list[str], int, str]]:
    """The cases: every pair with every reduction and number, and every subset of the data."""
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
    """All cases as sensors of a sledge in motion."""
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("scenes")


# -- the independent computation -------------------------------------------------------------------------


def is_of(model: mujoco.MjModel, geom: int, key: str | None, name: str | None) -> bool:
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
    """The contacts that match a pair, in the engine's order, told from object 1 to object 2."""
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
        for turned, (g1, g2) in ((1, (one, two)), (-1, (two, one))):
            if (
                not sign
                and is_of(model, g1, first, pair.get(first))
                and is_of(model, g2, second, pair.get(second))
            ):
                sign = turned
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
    if reduce == "netforce":
        return [net(contacts)] if contacts else []
    if reduce == "mindist":
        contacts = sorted(contacts, key=lambda contact: contact["dist"])
    if reduce == "maxforce":
        contacts = sorted(contacts, key=lambda contact: -np.linalg.norm(contact["force"]))
    return contacts[:num]


def net(contacts: list[dict]) -> dict:
    weights = np.array([np.linalg.norm(contact["force"]) for contact in contacts])
    # Without any force there is no point of attack: MuJoCo says the origin.
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


# -- the table -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("feet", range(9))
def test_every_pair_reduction_and_number_says_what_the_raw_contacts_say(feet, folder, engine_name):
    engine = sliding(feet, str(folder), engine_name)
    engine.contacts()
    assert engine.data.ncon == feet
    counts = set()
    for name in engine.contact_sensor_names:
        pair, _, num, reduce = CASES[name]
        contacts = raw_contacts(engine, pair)
        expected = reduced(contacts, num, reduce)
        counts.add(len(contacts))
        sensor = engine.get_contact_sensor(name)
        assert sensor.found.tolist() == [len(contacts)], name
        assert sensor.filled.tolist() == [len(expected)], name
        assert sensor.values.shape == (1, 1 if reduce == "netforce" else num, ContactSensor.WIDTH)
        assert not sensor.values[0, len(expected) :].any(), name
        for s, contact in enumerate(expected):
            told = np.concatenate([contact["force"], contact["torque"]])
            np.testing.assert_allclose(sensor.wrench[0, s], told, atol=1e-9, err_msg=name)
            np.testing.assert_allclose(sensor.pos[0, s], contact["pos"], atol=1e-9, err_msg=name)
            np.testing.assert_allclose(sensor.dist[0, s], contact["dist"], atol=1e-12, err_msg=name)
            normal, tangent = sensor.normal[0, s], sensor.tangent[0, s]
            np.testing.assert_allclose(normal, contact["normal"], atol=1e-12, err_msg=name)
            assert abs(tangent @ contact["tangent"]) == pytest.approx(1.0), name
            axes = np.stack([normal, tangent, np.cross(normal, tangent)])
            np.testing.assert_allclose(sensor.force[0, s], axes @ contact["force"], atol=1e-9, err_msg=name)
            np.testing.assert_allclose(sensor.torque[0, s], axes @ contact["torque"], atol=1e-9, err_msg=name)
        total = sum(
            (contact["force"] for contact in expected[: 1 if reduce == "maxforce" else None]), np.zeros(3)
        )
        magnitude = engine.get_contact_force_magnitude(name)
        np.testing.assert_allclose(magnitude, [np.linalg.norm(total)], atol=1e-9, err_msg=name)
    # One foot; all; those in the site's volume; none.
    assert {0, feet} <= counts and (feet < 3 or len(counts) > 3)


@pytest.mark.parametrize("feet", [0, 1, 8])
def test_the_flat_array_is_the_documented_one(feet, folder, engine_name):
    engine = sliding(feet, str(folder), engine_name)
    for name in engine.contact_sensor_names:
        _, data, num, reduce = CASES[name]
        sensor, flat = engine.get_contact_sensor(name), engine.get_sensor_value(name)
        slots = 1 if reduce == "netforce" else num
        width = sum(FIELDS[field] for field in data if field != "found")
        assert flat.shape == (1 + slots * width,) and flat.dtype == np.float32
        assert flat[0] == min(sensor.found[0], slots)
        read = 1
        for s, field in itertools.product(range(slots), [f for f in FIELDS if f in data and f != "found"]):
            told = flat[read : read + FIELDS[field]]
            np.testing.assert_array_equal(told, np.ravel(getattr(sensor, field)[0, s]).astype(np.float32))
            read += FIELDS[field]


def test_the_engines_own_layout_is_left_as_it_is(folder):
    engine = sliding(8, str(folder))
    plain = mujoco.MjModel.from_xml_path(f"{folder}/sledge8.xml")
    data = mujoco.MjData(plain)
    data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = (
        engine.data.qpos, engine.data.qvel, engine.data.qacc_warmstart,
    )  # fmt: skip
    mujoco.mj_forward(plain, data)
    assert len(engine.sensor_ids) == plain.nsensor
    for name in engine.sensor_ids:
        told = engine.get_sensor_data(name)
        assert told.shape == (1, plain.sensor(name).dim[0])
        np.testing.assert_allclose(told[0], data.sensor(name).data, atol=1e-6)


def test_a_sensor_that_tells_late_has_all_its_fields_late(tmp_path):
    scene = tmp_path / "late.xml"
    late = tag("late", PAIRS["bodies"], ["force"], 3, "netforce").replace("/>", ' delay=".02" nsample="20"/>')
    scene.write_text(sledge(3, late + tag("now", PAIRS["bodies"], ["force"], 3, "netforce")))
    engine = load(scene)
    told = []
    for _ in range(30):
        engine.step()
        told.append([engine.get_contact_sensor(name).force[0, 0].copy() for name in ("late", "now")])
    late, now = np.swapaxes(told, 0, 1)
    np.testing.assert_array_equal(late[15:], now[5:-10])
    assert np.ptp(now[:, 2]) > 1.0


def test_a_box_at_rest_is_felt_with_its_weight_in_either_order(tmp_path, engine_name):
    share, twist = 0.01, {"mujoco": 1e-3, "motrix": 0.03}[engine_name]
    scene = tmp_path / "box.xml"
    scene.write_text("""<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
      <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="3"/></body>
      </worldbody></mujoco>""")
    ways = {
        "up": {"geom1": "floor", "body2": "box"},
        "down": {"geom1": "box/geom0", "geom2": "floor"},
        "four": {"body1": "box", "num": 4},
    }
    asked = {
        "up": {"data": ["force"], "reduce": "netforce"},
        "down": {"data": ["force"], "reduce": "netforce"},
    }
    sensors = {name: keys | asked.get(name, {}) for name, keys in ways.items()}
    engine = load(scene, engine_name, contact_sensors=sensors)
    engine.step(600)
    weight = 3 * 9.81
    for name, sign in (("up", 1), ("down", -1)):
        sensor = engine.get_contact_sensor(name)
        np.testing.assert_allclose(sensor.wrench[0, 0, :3], [0, 0, sign * weight], atol=share * weight)
        np.testing.assert_allclose(sensor.pos[0, 0], [0, 0, 0], atol=share * 0.1)
        np.testing.assert_allclose(sensor.wrench[0, 0, 3:], 0, atol=twist)
        assert engine.get_sensor_value(name).shape == (4,)
    four = engine.get_contact_sensor("four")
    assert four.found[0] == four.filled[0] == 4
    np.testing.assert_allclose(four.force[0, :, 0].sum(), weight, rtol=share)
    np.testing.assert_allclose(four.normal[0], [[0, 0, -1]] * 4, atol=1e-3 * twist)
    for name in ways:
        np.testing.assert_allclose(engine.get_contact_force_magnitude(name), [weight], rtol=share)


def test_the_examples_of_the_page_run_and_the_globe_weighs_on_the_hand(tmp_path, capsys):
    page = (Path(__file__).resolve().parents[1] / "docs" / "contact_sensors.md").read_text(encoding="utf-8")
    (file,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "page.yaml").write_text(file)
    assert main(["check", str(tmp_path / "page.yaml")]) == main(["info", str(tmp_path / "page.yaml")]) == 0
    row = r"^tip +geom index_tip +body globe +force +1 +netforce"
    assert re.search(row, capsys.readouterr().out, re.MULTILINE)
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(code, names)
    engine, sensor = names["engine"], names["sensor"]
    assert sensor.found[0] == sensor.filled[0] >= 3
    # Nothing else touches the globe, which hardly moves: hand and gravity balance.
    weight = engine.model.body("globe").mass[0] * 9.81
    np.testing.assert_allclose(sensor.wrench[0, :, :3].sum(axis=0), [0, 0, weight], atol=0.05 * weight)


# -- many environments -----------------------------------------------------------------------------------


def test_each_environment_of_a_batch_feels_what_it_would_feel_alone(folder):
    sliding(5, str(folder))
    file = folder / "sledge5.xml"
    batch, alone = load(file, num_envs=4, threads=2), load(file)
    for env, height in enumerate([0.019, 0.018, 3.0, 0.0185]):
        batch.data.qpos[env, 2] = height
        batch.data.qvel[env] = 0.1 * env
    batch.step(5)
    for env in range(4):
        alone.reset()
        alone.data.qpos[2] = [0.019, 0.018, 3.0, 0.0185][env]
        alone.data.qvel[:] = 0.1 * env
        alone.step(5)
        for name in list(CASES)[::5]:
            one, many = alone.get_contact_sensor(name), batch.get_contact_sensor(name)
            np.testing.assert_array_equal(many.values[env], one.values[0])
            assert many.found[env] == one.found[0]
            np.testing.assert_array_equal(
                batch.get_contact_force_magnitude(name)[env], alone.get_contact_force_magnitude(name)[0]
            )
            np.testing.assert_array_equal(batch.get_sensor_value(name)[env], alone.get_sensor_value(name))
            np.testing.assert_array_equal(batch.get_sensor_data(name)[env], alone.get_sensor_data(name)[0])
    np.testing.assert_allclose(batch.time, [0.01] * 4)


def test_some_environments_of_a_batch_start_anew_and_the_others_go_on(folder):
    sliding(5, str(folder))
    batch = load(folder / "sledge5.xml", num_envs=3)
    batch.step(4)
    batch.reset(envs=[1])
    np.testing.assert_allclose(batch.time, [0.008, 0, 0.008])
    batch.data.qvel[2, 0] = np.nan
    batch.step()
    assert batch.fault() == "bad velocity in environment 2"
    batch.reset()
    assert batch.fault() is None and not batch.time.any()
    with pytest.raises(EngineError, match="no keyframe 'rest'"):
        batch.reset("rest")


def test_environments_are_told_by_numbers_in_any_order_or_by_a_mask(folder, engine_name):
    sliding(5, str(folder))
    batch = load(folder / "sledge5.xml", engine_name, num_envs=3)
    batch.step()
    batch.reset(envs=[2, 0, 2])
    np.testing.assert_allclose(batch.time, [0, 0.002, 0])
    batch.step()
    batch.reset(envs=batch.time > 0.003)
    np.testing.assert_allclose(batch.time, [0.002, 0, 0.002])
    for envs, message in (
        ([3], "no environment 3; there are 0 to 2"), ([-1], "no environment -1"),
        ([True], "needs numbers"), (1, "3 booleans, but is 1"),
    ):  # fmt: skip
        with pytest.raises(EngineError, match=message):
            batch.reset(envs=envs)


@pytest.mark.parametrize("number", [0, -1, 2.0, "2"])
def test_a_number_of_environments_that_cannot_be_is_refused(number):
    with pytest.raises(EngineError, match=f"cannot run {number!r} environments"):
        load("touch_cube", num_envs=number)


def test_the_force_of_1024_environments_costs_at_most_1_2_times_its_raw_read_and_norm(folder, engine_name):
    (folder / "one.xml").write_text(sledge(1, tag("net", PAIRS["bodies"], ["force"], 1, "netforce")))
    batch = load(folder / "one.xml", engine_name, num_envs=1024)
    batch.step()

    def seconds(read) -> float:
        return min(timeit.repeat(read, number=20, repeat=10))

    ours = seconds(lambda: batch.get_contact_force_magnitude("net"))
    raw = seconds(lambda: np.linalg.norm(batch.get_sensor_data("net"), axis=1))
    assert ours < 1.2 * raw


def test_what_a_batch_cannot_do_is_refused_by_name(folder):
    sliding(5, str(folder))
    batch = load(folder / "sledge5.xml", num_envs=2)
    for name in ("contacts", "integrate", "set_free_body", "body_positions"):
        with pytest.raises(EngineError, match=f"has no {name} for 2 environments at once.*num_envs=1"):
            getattr(batch, name)
    assert not hasattr(batch, "anything")
    with pytest.raises(EngineError, match="cannot run 0 environments"):
        load(folder / "sledge5.xml", num_envs=0)


# -- bad input -------------------------------------------------------------------------------------------


def test_an_unknown_sensor_or_one_of_another_kind_is_refused_by_every_reader(tmp_path):
    scene = tmp_path / "a.xml"
    scene.write_text(sledge(1, '<touch name="pad" site="zone"/>'))
    engine = load(scene)
    readers = [
        engine.get_sensor_data, engine.get_sensor_value, engine.get_contact_sensor,
        engine.get_contact_force_magnitude,
    ]  # fmt: skip
    for read in readers:
        with pytest.raises(EngineError, match="no sensor named 'pat'; did you mean 'pad'"):
            read("pat")
    for read in readers[2:]:
        with pytest.raises(EngineError, match="sensor 'pad' is of type touch, not contact"):
            read("pad")
    assert engine.get_sensor_value("pad").shape == (1,)


def test_a_model_compiled_elsewhere_is_read_as_far_as_its_sensors_go():
    text = sledge(
        1,
        tag("some", PAIRS["bodies"], ["force"], 2, "none")
        + tag("all", PAIRS["bodies"], [*FIELDS], 2, "none"),
    )
    engine = MujocoEngine(mujoco.MjModel.from_xml_string(text))
    assert engine.get_contact_sensor("all").found.tolist() == [1]
    with pytest.raises(EngineError, match=r"'some' asks for force alone.*engines\.load"):
        engine.get_contact_sensor("some")


T = "my.yaml: contact_sensors.tip"
WRONG = {
    "an unknown geom": ("geom1: flor", f"{T}.geom1: the scene has no geom named 'flor'; did you mean 'fl"),
    "an unknown body": ("subtree2: f", f"{T}.subtree2: the scene has no body named 'f'; there are: "),
    "an unknown site": ("site: zon", f"{T}.site: the scene has no site named 'zon'; did you mean 'zone'?"),
    "an unknown key": ("geom3: a", "my.yaml: unknown key 'contact_sensors.tip.geom3'; did you mean 'geom2'?"),
    "two objects 1": ("geom1: floor, body1: feet", f"{T}: has both geom1 and body1; name at most one of"),
    "no object": ("num: 2", f"{T}: names no object; add at least one of geom1, body1"),
    "an unknown word": ("geom1: a, data: [forc]", f"{T}.data: cannot have 'forc'; did you mean 'force'?"),
    "wrong order": ("geom1: a, data: [pos, force]", f"{T}.data: needs each word once and in order, [force"),
    "a word twice": ("geom1: a, data: [pos, pos]", f"{T}.data: needs each word once and in order, [pos]"),
    "no list": ("geom1: a, data: force", f"{T}.data: needs a list of words, such as [found, force], but is"),
    "num 0": ("geom1: a, num: 0", f"{T}.num: needs an integer from 1 to 1000, but is 0"),
    "half a slot": ("geom1: a, num: 1.5", f"{T}.num: needs an integer from 1 to 1000, but is 1.5"),
    "an unknown reduction": ("geom1: a, reduce: sum", f"{T}.reduce: cannot be 'sum'; there are: "),
}  # fmt: skip


def refusal(folder, capsys, sensor: str) -> str:
    """What ``check`` says of a configuration with this contact sensor, on a scene that has ``a_b``."""
    (folder / "scene.xml").write_text(sledge(2, tag("a_b", PAIRS["bodies"], ["found"], 1, "none")))
    file = folder / "my.yaml"
    file.write_text(
        "/**:\n  ros__parameters:\n    scene: scene.xml\n    skin: {scales: {feet: 0.02}}\n"
        f"    contact_sensors: {{{sensor}}}\n"
    )
    assert main(["check", str(file)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(("keys", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_contact_sensor_of_a_configuration_is_one_line_with_file_sensor_and_key(
    keys, message, tmp_path, capsys
):
    assert message in refusal(tmp_path, capsys, f"tip: {{{keys}}}")


def test_a_contact_sensor_needs_a_name_and_a_topic_of_its_own(tmp_path, capsys):
    taken = refusal(tmp_path, capsys, "a_b: {geom1: floor}")
    assert "my.yaml: contact_sensors.a_b: the scene has a sensor of that name" in taken
    shared = refusal(tmp_path, capsys, '"a:b": {geom1: floor}')
    assert "the sensors 'a_b' and 'a:b' would share the topic 'contact_sensors/a_b'; rename one" in shared
    (tmp_path / "two.xml").write_text(sledge(1, '<clock name="t 1"/><clock name="t_1"/>'))
    with pytest.raises(SceneError, match="'t 1' and 't_1' would share the topic 'sensors/t_1'"):
        load(tmp_path / "two.xml")


MJCF = {
    'geom1="a" num="0"': "num: needs an integer from 1 to 1000, but is 0",
    'geom1="a" data="force found"': "data: needs each word once and in order, [found, force], but is",
    'geom1="a" data="forc"': "data: cannot have 'forc'; did you mean 'force'?",
    'geom1="a" reduce="sum"': "reduce: cannot be 'sum'; there are: ",
    'geom1="floor" site="zone"': "has both geom1 and site; name at most one of",
    'geom1="floor" body2="feat"': "body2: the scene has no body named 'feat'; did you mean 'feet'?",
    'subtree1="feat"': "subtree1: the scene has no body named 'feat'; did you mean 'feet'?",
    'site="zon"': "site: the scene has no site named 'zon'; did you mean 'zone'?",
}  # fmt: skip


@pytest.mark.parametrize(("attributes", "message"), MJCF.items())
def test_a_wrong_contact_sensor_of_a_scene_is_one_line_with_file_sensor_and_attribute(
    attributes, message, tmp_path
):
    scene = tmp_path / "scene.xml"
    scene.write_text(sledge(2, f'<contact name="tip" {attributes}/>'))
    with pytest.raises(SceneError) as error:
        load(scene)
    assert str(error.value).startswith(f"{scene}: sensor 'tip': {message}")


def test_sensors_that_python_adds_are_checked_like_those_of_a_file(tmp_path):
    scene = tmp_path / "scene.xml"
    scene.write_text(sledge(1))
    with pytest.raises(
        ConfigError, match=r"contact_sensors\.tip\.num: needs an integer from 1 to 1000, but is 0"
    ):
        load(scene, contact_sensors={"tip": {"geom1": "floor", "num": 0}})
    with pytest.raises(ConfigError, match=r"contact_sensors\.tip\.geom2: the scene has no geom named 'foot'"):
        load(scene, contact_sensors={"tip": {"geom1": "floor", "geom2": "foot"}})
    with pytest.raises(ConfigError, match=r"contact_sensors\.tip: names no object"):
        load(scene, contact_sensors={"tip": {}})

"""Contact sensors, compared contact by contact with an independent computation."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from support.contact_sensors import CASES, FIELDS, PAIRS, raw_contacts, reduced, sledge, sliding, tag

from tactile_sim.commands import main
from tactile_sim.engines import ContactSensor, load


@pytest.mark.parametrize("feet", range(9))
def test_sensors_equal_the_computation_from_raw_contacts(feet, folder, engine_name):
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
            wrench = np.concatenate([contact["force"], contact["torque"]])
            np.testing.assert_allclose(sensor.wrench[0, s], wrench, atol=1e-9, err_msg=name)
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
    # The cases include no foot, one foot, all feet, and the feet inside the site.
    assert {0, feet} <= counts and (feet < 3 or len(counts) > 3)


@pytest.mark.parametrize("feet", [0, 1, 8])
def test_flat_array_has_the_documented_layout(feet, folder, engine_name):
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
            values = flat[read : read + FIELDS[field]]
            np.testing.assert_array_equal(values, np.ravel(getattr(sensor, field)[0, s]).astype(np.float32))
            read += FIELDS[field]


def test_sensor_data_keeps_mujoco_layout(folder):
    engine = sliding(8, str(folder))
    plain = mujoco.MjModel.from_xml_path(f"{folder}/sledge8.xml")
    data = mujoco.MjData(plain)
    data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = (
        engine.data.qpos, engine.data.qvel, engine.data.qacc_warmstart,
    )  # fmt: skip
    mujoco.mj_forward(plain, data)
    assert len(engine.sensor_ids) == plain.nsensor
    for name in engine.sensor_ids:
        values = engine.get_sensor_data(name)
        assert values.shape == (1, plain.sensor(name).dim[0])
        np.testing.assert_allclose(values[0], data.sensor(name).data, atol=1e-6)


def test_sensor_delay_applies_to_all_fields(tmp_path):
    scene = tmp_path / "late.xml"
    late = tag("late", PAIRS["bodies"], ["force"], 3, "netforce").replace("/>", ' delay=".02" nsample="20"/>')
    scene.write_text(sledge(3, late + tag("now", PAIRS["bodies"], ["force"], 3, "netforce")))
    engine = load(scene)
    forces = []
    for _ in range(30):
        engine.step()
        forces.append([engine.get_contact_sensor(name).force[0, 0].copy() for name in ("late", "now")])
    late, now = np.swapaxes(forces, 0, 1)
    np.testing.assert_array_equal(late[15:], now[5:-10])
    assert np.ptp(now[:, 2]) > 1.0


def test_box_at_rest_has_its_weight_in_either_order(tmp_path, engine_name):
    share, twist = 0.01, {"mujoco": 1e-3, "motrix": 0.03}[engine_name]
    scene = tmp_path / "box.xml"
    scene.write_text("""<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
      <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="3"/></body>
      </worldbody></mujoco>""")
    objects = {
        "up": {"geom1": "floor", "body2": "box"},
        "down": {"geom1": "box/geom0", "geom2": "floor"},
        "four": {"body1": "box", "num": 4},
    }
    requested = {
        "up": {"data": ["force"], "reduce": "netforce"},
        "down": {"data": ["force"], "reduce": "netforce"},
    }
    sensors = {name: keys | requested.get(name, {}) for name, keys in objects.items()}
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
    for name in objects:
        np.testing.assert_allclose(engine.get_contact_force_magnitude(name), [weight], rtol=share)


def test_documentation_examples_weigh_the_globe_on_the_hand(tmp_path, capsys):
    page = (Path(__file__).resolve().parents[2] / "docs" / "contact_sensors.md").read_text(encoding="utf-8")
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
    # Only the hand touches the globe, which hardly moves, so its force balances gravity.
    weight = engine.model.body("globe").mass[0] * 9.81
    np.testing.assert_allclose(sensor.wrench[0, :, :3].sum(axis=0), [0, 0, weight], atol=0.05 * weight)

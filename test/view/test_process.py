"""The replica in the process of a view, and the memory through which it receives states."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.engines import Contacts
from tactile_sim.simulation import Simulation
from tactile_sim.view.content import ViewScene
from tactile_sim.view.model_scene import scene_of_simulation
from tactile_sim.view.process import Replica
from tactile_sim.view.shared_frame import MAX_CONTACTS, SharedFrame, record_dtype

PADS = """<mujoco><worldbody>
  <body name="a"><geom type="box" size=".02 .02 .01" pos="0 0 -.01"/></body>
  <body name="b" pos="1 0 0"><geom type="box" size=".02 .02 .01" pos="0 0 -.01"/></body>
  <body pos="1 0 .0049"><freejoint/><geom size=".005" mass=".1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("name", ["touch_cube", "trifinger"])
def test_replica_has_the_forces_of_the_simulation(name):
    settings = config.load(name)
    simulation, replica = Simulation(settings), Simulation(settings)
    for _ in range(40):
        simulation.apply_commands()
        simulation.snapshot()
        simulation.step()
    simulation.apply_commands()
    state = np.empty(simulation.engine.state_size)
    simulation.engine.get_state(state)
    replica.engine.set_state(state)
    simulation.snapshot()
    replica.snapshot()
    if name == "trifinger":
        assert replica.engine.physics.rules.desired.any()
    for field in ("qfrc_applied", "qacc", "ctrl", "xpos"):
        assert getattr(replica.engine.data, field) == pytest.approx(getattr(simulation.engine.data, field))


def test_replica_reads_pads_of_different_units_in_newtons_and_invalid_taxels(tmp_path):
    (tmp_path / "s.xml").write_text(PADS)
    grid = {"rows": 2, "columns": 2, "pitch": [0.004, 0.004]}
    pads = {"a": {"body": "a", "grid": grid}, "b": {"body": "b", "grid": grid, "touch_function": "pressure"}}
    skin = {"pads": pads, "sensor": {"a": {"dead_taxels": {"taxels": [1]}}}}
    settings = config.from_mapping({"scene": "s.xml", "skin": skin}, tmp_path)
    simulation = Simulation(settings)
    simulation.step(200)
    record = np.zeros((), record_dtype(scene_of_simulation(simulation, ()), simulation.engine.state_size))
    record["enabled"] = True
    simulation.engine.get_state(record["state"])
    record["step"] = record["taken"] = simulation.step_count
    record["touch_function"], record["response_function"] = b"force_vector", b"spread_linear"
    Replica(settings).complete(record)
    assert record["valid"].tolist() == [1, 0, 1, 1, 1, 1, 1, 1]
    readings = record["readings"].reshape(8, int(record["channels"]))
    assert record["unit"] == b"N" and readings[4:].sum(axis=0) == pytest.approx([0, 0, -0.981], abs=0.01)
    assert record["pad_readings"] == pytest.approx([0, 0.981], abs=0.01)


@pytest.mark.parametrize("touch", ["force_vector", "force_vector_taxel", "normal", "pressure"])
def test_each_pad_of_a_body_has_its_own_readings(tmp_path, touch):
    (tmp_path / "s.xml").write_text(PADS)
    grid = {"rows": 2, "columns": 2, "pitch": [0.004, 0.004]}
    pads = {
        name: {"body": "b", "grid": grid, "position": [x, 0, 0]} for name, x in (("on", 0), ("off", 0.015))
    }
    settings = config.from_mapping(
        {"scene": "s.xml", "skin": {"pads": pads, "touch_function": touch}}, tmp_path
    )
    simulation = Simulation(settings)
    simulation.step(200)
    record = np.zeros((), record_dtype(scene_of_simulation(simulation, ()), simulation.engine.state_size))
    simulation.engine.get_state(record["state"])
    record["touch_function"], record["response_function"] = touch.encode(), b"spread_linear"
    Replica(settings).complete(record)
    largest = np.abs(simulation.observe().reading("on")).max()
    on = largest if touch == "pressure" else 0.981
    felt = dict(zip((pad.name for pad in simulation.skin.pads), record["pad_readings"], strict=True))
    assert felt == pytest.approx({"on": on, "off": 0}, rel=0.01)


BODIES = 2000
SCENE = ViewScene("", ("world",))
READER = f"""
import sys, time
from tactile_sim.view.content import ViewScene
from tactile_sim.view.shared_frame import SharedFrame
shared = SharedFrame(ViewScene("", ("body",) * {BODIES}), int(sys.argv[1]))
shared.clients = 1
print("ready", flush=True)
torn = reads = 0
while reads < 500:
    record = shared.read()
    if record is None:
        time.sleep(1e-4)  # otherwise the writer could not run on a single core
    else:
        torn += not (record["positions"] == record["time"]).all()
        reads += 1
print(torn)
"""


def test_reader_in_another_process_gets_complete_frames():
    shared = SharedFrame(ViewScene("", ("body",) * BODIES))
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(shared.file)],
        pass_fds=[shared.file],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout.readline() == "ready\n"
    assert shared.clients == 1
    k = 0
    while reader.poll() is None:
        k += 1
        shared.write(time=k, positions=k)
        np.linalg.norm(np.ones(20000))  # other work, like the steps of a simulation
    assert reader.stdout.read() == "0\n"


def test_frame_is_read_once():
    shared = SharedFrame(SCENE)
    reader = SharedFrame(SCENE, shared.file)
    assert reader.read() is None
    shared.write(time=1.0)
    assert reader.read()["time"] == 1.0
    assert reader.read() is None


def test_omitted_fields_keep_their_values():
    shared = SharedFrame(SCENE)
    reader = SharedFrame(SCENE, shared.file)
    shared.write(time=1.0, positions=np.array([[1.0, 2.0, 3.0]]))
    shared.write(time=2.0, fault=b"bad velocity")
    record = reader.read()
    assert record["time"] == 2.0
    assert record["fault"] == b"bad velocity"
    assert record["positions"].tolist() == [[1.0, 2.0, 3.0]]


def test_excess_contacts_are_dropped():
    shared = SharedFrame(SCENE)
    reader = SharedFrame(SCENE, shared.file)
    many = np.arange((MAX_CONTACTS + 5) * Contacts.WIDTH, dtype=float).reshape(-1, Contacts.WIDTH)
    shared.write(contacts=Contacts(many, np.full((len(many), Contacts.IDS), 7, np.int32)))
    record = reader.read()
    assert record["contact_count"] == MAX_CONTACTS
    assert (record["contacts"] == many[:MAX_CONTACTS]).all()
    assert (record["contact_bodies"] == 7).all()

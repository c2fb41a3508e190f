"""The memory that a simulation shares with its view, with a reader in another process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from tactile_sim.engines import Contacts
from tactile_sim.view.content import ViewScene
from tactile_sim.view.process.shared_frame import MAX_CONTACTS, SharedFrame

BODIES = 2000
SCENE = ViewScene("", ("world",))
READER = f"""
import sys, time
from tactile_sim.view.content import ViewScene
from tactile_sim.view.process.shared_frame import SharedFrame
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

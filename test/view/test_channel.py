"""The memory between a simulation and its view, with the other side in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from tactile_sim.engines import Contacts
from tactile_sim.view.channel import MOST_CONTACTS, Channel
from tactile_sim.view.world import World

BODIES = 2000
READER = f"""
import sys, time
from tactile_sim.view.channel import Channel
from tactile_sim.view.world import World
channel = Channel(World("", ("body",) * {BODIES}), int(sys.argv[1]))
channel.clients = 1
print("looks", flush=True)
torn = looks = 0
while looks < 500:
    record = channel.read()
    if record is None:
        time.sleep(1e-4)  # on one core, the writer could not write before the reader's turn is over
    else:
        torn += not (record["positions"] == record["time"]).all()
        looks += 1
print(torn)
"""


def test_a_reader_in_another_process_gets_whole_moments_only():
    channel = Channel(World("", ("body",) * BODIES))
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(channel.file)],
        pass_fds=[channel.file],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout.readline() == "looks\n"
    assert channel.clients == 1
    k = 0
    while reader.poll() is None:
        k += 1
        channel.write(time=k, positions=k)
        np.linalg.norm(np.ones(20000))  # a simulation has something else to do in between
    assert reader.stdout.read() == "0\n"


def test_a_moment_is_read_once():
    channel = Channel(World("", ("world",)))
    reader = Channel(World("", ("world",)), channel.file)
    assert reader.read() is None
    channel.write(time=1.0)
    assert reader.read()["time"] == 1.0
    assert reader.read() is None


def test_fields_that_are_not_given_stay():
    channel = Channel(World("", ("world",)))
    reader = Channel(World("", ("world",)), channel.file)
    channel.write(time=1.0, positions=np.array([[1.0, 2.0, 3.0]]))
    channel.write(time=2.0, fault=b"bad velocity")
    record = reader.read()
    assert record["time"] == 2.0
    assert record["fault"] == b"bad velocity"
    assert record["positions"].tolist() == [[1.0, 2.0, 3.0]]


def test_contacts_beyond_the_room_are_left_out():
    channel = Channel(World("", ("world",)))
    reader = Channel(World("", ("world",)), channel.file)
    many = np.arange((MOST_CONTACTS + 5) * Contacts.WIDTH, dtype=float).reshape(-1, Contacts.WIDTH)
    channel.write(contacts=many)
    record = reader.read()
    assert record["contact_count"] == MOST_CONTACTS
    assert (record["contacts"] == many[:MOST_CONTACTS]).all()

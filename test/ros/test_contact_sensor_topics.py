"""Test that ``contact_sensors/<name>`` agrees with the contacts of the same stamp."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from support.published import published  # noqa: E402

from tactile_sim.simulation import Simulation  # noqa: E402

SCENE = """
<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .12"><freejoint/><geom name="shell" type="box" size=".1 .1 .1" mass="3"/></body>
  <body name="ball" pos="1 0 30"><freejoint/><geom name="ball" size=".05"/></body>
</worldbody><sensor>
  <contact name="net force" geom1="floor" geom2="shell" data="force" reduce="netforce" num="7"/>
  <contact name="all" geom1="shell" geom2="floor" data="found pos" num="9"/>
  <contact name="air" geom1="ball"/>
</sensor></mujoco>"""
DECLARED = {"two": {"body1": "world", "subtree2": "box", "data": ["force"], "num": 2, "reduce": "maxforce"}}
WEIGHT = 3 * 9.81


def vectors(field) -> np.ndarray:
    return np.asarray(field).reshape(-1, 3)


@pytest.fixture
def received(tmp_path):
    """Return each topic's messages by stamp, every 10 ms while a box falls and comes to rest."""
    (tmp_path / "scene.xml").write_text(SCENE)
    topics = {
        f"contact_sensors/{name.replace(' ', '_')}": name for name in ("net force", "all", "air", "two")
    }
    topics["contacts"] = "contacts"
    simulation = Simulation({"scene": str(tmp_path / "scene.xml"), "skin": {"scales": {"box": 0.05}},
                             "contact_sensors": DECLARED, "contacts": "all"})  # fmt: skip
    found = published(simulation, topics, 500, every=5)
    return {name: found[topic] for topic, name in topics.items()}


def test_contact_sensors_agree_with_contacts_of_same_stamp(received):
    published = received["contacts"]
    assert len(published) == 101 and all(set(messages) == set(published) for messages in received.values())
    touching = 0
    for t, array in published.items():
        contacts = array.contacts
        force, position = vectors(contacts.wrench.force), vectors(contacts.position)
        net, every, two = (received[name][t] for name in ("net force", "all", "two"))
        assert net.found == every.found == two.found
        assert len(every.slots.dist) == every.found and len(two.slots.dist) == min(2, two.found)
        if not len(force):
            continue
        touching += 1
        # Listed contacts have a force; geom 1 is the floor.
        np.testing.assert_allclose(vectors(net.slots.wrench.force)[0], force.sum(axis=0), atol=1e-9)
        np.testing.assert_allclose(vectors(net.slots.force)[0], force.sum(axis=0), atol=1e-9)
        pos = vectors(net.slots.pos)[0]
        torque = np.cross(position - pos, force) + vectors(contacts.wrench.torque)
        np.testing.assert_allclose(vectors(net.slots.wrench.torque)[0], torque.sum(axis=0), atol=1e-9)
        if every.found == len(force):
            # This sensor is directed from the box to the floor: opposite forces at the same points.
            np.testing.assert_allclose(vectors(every.slots.wrench.force), -force, atol=1e-9)
            np.testing.assert_allclose(vectors(every.slots.pos), position, atol=1e-12)
            np.testing.assert_allclose(vectors(every.slots.normal), -vectors(contacts.normal), atol=1e-12)
            np.testing.assert_allclose(np.asarray(every.slots.dist), contacts.distance, atol=1e-12)
        normal, tangent = vectors(two.slots.normal), vectors(two.slots.tangent)
        axes = np.stack([normal, tangent, np.cross(normal, tangent)], axis=1)
        turned = np.einsum("ski,sk->si", axes, vectors(two.slots.force))
        np.testing.assert_allclose(turned, vectors(two.slots.wrench.force), atol=1e-9)
        strongest = np.sort(np.linalg.norm(force, axis=1))[::-1][: len(turned)]
        np.testing.assert_allclose(np.linalg.norm(turned, axis=1), strongest, atol=1e-9)
    assert touching > 80

    net, every, air, two = (received[name][10**9] for name in ("net force", "all", "air", "two"))
    np.testing.assert_allclose(vectors(net.slots.wrench.force), [[0, 0, WEIGHT]], atol=0.01 * WEIGHT)
    assert (net.name, net.reduce, list(net.data), net.found) == ("net force", "netforce", ["force"], 4)
    assert (every.name, every.reduce, list(every.data)) == ("all", "none", ["found", "pos"])
    assert (two.name, two.reduce, list(two.data), two.found) == ("two", "maxforce", ["force"], 4)
    assert air.found == 0 and len(air.slots.dist) == 0
    assert {message.header.frame_id for message in (net, every, air, two)} == {"world"}

"""Messages of the TriFinger: ``finger/applied_torque`` and ``finger/tip_force``."""

from __future__ import annotations

from collections.abc import Iterator

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from tactile_sim.ros import cdr
from tactile_sim.ros.sensor_messages import Topic
from tactile_sim.simulation import Simulation
from tactile_sim.snapshot import Snapshot


def finger_topics(simulation: Simulation) -> Iterator[Topic]:
    """What its motors give [N m], and what the sensors in its tips read; none where it is not the engine."""
    if simulation.settings.engine != "trifinger":
        return
    from tactile_sim.engines.trifinger import TrifingerEngine  # whose kernels few need

    engine = simulation.engine
    assert isinstance(engine, TrifingerEngine)
    told = {
        "header": {"stamp": cdr.STAMP},
        "name": simulation.commander.joint_names,
        "effort": cdr.Payload(),
    }
    torque, force = cdr.template(JointState, told), cdr.template(Float64MultiArray, {"data": cdr.Payload()})

    def applied_torque(snapshot: Snapshot) -> bytes:
        return torque.fill(snapshot.stamp, data=engine.physics.torque)

    def tip_force(snapshot: Snapshot) -> bytes:
        return force.fill(data=engine.push_sensors)

    yield Topic(JointState, "finger/applied_torque", applied_torque)
    yield Topic(Float64MultiArray, "finger/tip_force", tip_force)

"""Test the attributes of `tactile_sim`, and `Simulation` without ROS."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import numpy as np
import pytest

import tactile_sim
from tactile_sim import (
    CommandError,
    ConfigError,
    EngineError,
    PhysicsError,
    SceneError,
    Simulation,
    TactileSimError,
)
from tactile_sim.simulation.runner import Output, Runner

BOX = """
<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="arm" pos="-1 0 1"><joint name="hinge" axis="0 1 0" damping="1"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>
</worldbody><actuator><position name="servo" joint="hinge" kp="50"/></actuator></mujoco>"""
WEIGHT = 2 * 9.81
SKIN = {"scales": {"box": 0.02}}


def simulate(**skin) -> Simulation:
    return Simulation(mujoco.MjSpec.from_string(BOX), {"skin": SKIN | skin})


def test_import_does_not_load_mujoco():
    code = "import sys, tactile_sim; assert 'mujoco' not in sys.modules;"
    code += "assert all(hasattr(tactile_sim, name) for name in tactile_sim.__all__)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_simulation_and_description_load_trimesh_only_for_meshes():
    code = "import sys, tactile_sim.scenes.generated_urdf, tactile_sim.view.publisher;"
    code += "assert 'mujoco' in sys.modules; assert 'trimesh' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_attribute_raises_attribute_error():
    with pytest.raises(AttributeError, match="simulatoin"):
        tactile_sim.simulatoin  # noqa: B018


def test_load_takes_names_and_paths(tmp_path):
    (tmp_path / "box.xml").write_text(BOX)
    (tmp_path / "box.yaml").write_text(
        "/**: {ros__parameters: {scene: box.xml, skin: {scales: {box: 0.02}}}}"
    )
    assert len(tactile_sim.load("touch_cube").skin.positions) == 602
    assert [body.name for body in tactile_sim.load(tmp_path / "box.yaml").skin.pads] == ["box"]


@pytest.mark.parametrize("make", [mujoco.MjSpec.from_string, mujoco.MjModel.from_xml_string])
def test_scene_made_in_python_gets_a_skin(make):
    simulation = Simulation(make(BOX), {"skin": SKIN})
    simulation.step(500)
    assert simulation.observe().forces_world.sum(axis=0) == pytest.approx([0, 0, WEIGHT], abs=0.01)


def test_mapping_is_a_configuration(tmp_path, monkeypatch):
    (tmp_path / "box.xml").write_text(BOX)
    monkeypatch.chdir(tmp_path)
    assert Simulation({"scene": "box.xml", "skin": SKIN}).skin.pads[0].name == "box"


def test_spec_is_not_changed():
    spec = mujoco.MjSpec.from_string(BOX)
    before = spec.to_xml()
    Simulation(spec, {"skin": SKIN, "contact_sensors": {"sole": {"body1": "box"}}})
    assert spec.to_xml() == before


PARTIAL = BOX.replace(
    "</mujoco>", '<sensor><contact name="sole" body1="box" data="force"/></sensor></mujoco>'
)


@pytest.mark.parametrize(
    ("scene", "settings", "error"),
    [
        (mujoco.MjSpec.from_string(BOX), {"scene": "touch_cube"}, ConfigError),
        (mujoco.MjSpec.from_string(BOX), {"skin": {"scales": {"bux": 0.02}}}, TactileSimError),
        (mujoco.MjModel.from_xml_string(BOX), {"contact_sensors": {"a": {"body1": "box"}}}, ConfigError),
        (mujoco.MjModel.from_xml_string(BOX), {"control": {"hinge": {"kp": 1.0}}}, ConfigError),
        (mujoco.MjModel.from_xml_string(BOX), {"engine": "motrix", "skin": SKIN}, EngineError),
        (mujoco.MjModel.from_xml_string(PARTIAL), {"skin": SKIN}, SceneError),
        ("touch_cube", {"skin": SKIN}, ConfigError),
        ({"scene": "nosuch.xml"}, None, SceneError),
    ],
)
def test_invalid_arguments_raise(scene, settings, error):
    with pytest.raises(error):
        Simulation(scene, settings)


STAGES = {
    "delay": {"time": 0.025},
    "slow_adaptation": {"fraction": 0.5, "time_constant": 0.05},
    "fast_adaptation": {"time_constant": 0.05},
    "hysteresis": {"fraction": 0.1},
    "noise": {"std": 0.01},
    "tare": {"at": 0.1},
}


class Listener(Output):
    """Output that collects the readings on the tactile topics, keyed by stamp."""

    def __init__(self):
        self.readings = {}

    def subscribed(self):
        return {"tactile"}

    def publish(self, snapshot, streams):
        self.readings[snapshot.stamp] = snapshot.readings32.copy()


@pytest.mark.parametrize("sampling", ["last", "mean", "peak"])
@pytest.mark.parametrize("stage", STAGES)
def test_step_and_observe_give_what_the_topics_publish(stage, sampling):
    skin = {"sensor": {"box": {stage: STAGES[stage]}}, "sampling": sampling}
    listener = Listener()
    published = simulate(**skin)
    Runner(published, listener).run(0.4)
    simulation = simulate(**skin)
    for steps in (0, 5, 15, 80, 35):  # one tick is 10 ms, which is five steps
        simulation.step(steps)
        np.testing.assert_array_equal(
            simulation.observe().readings32,
            listener.readings[simulation.stamp],
            err_msg=f"{simulation.stamp}",
        )


@pytest.mark.parametrize(
    ("stage", "share"), [("delay", 1.0), ("slow_adaptation", 0.5), ("fast_adaptation", 0.0)]
)
def test_held_load_reads_its_steady_value(stage, share):
    simulation = simulate(sensor={"box": {stage: STAGES[stage]}}, touch_function="normal")
    simulation.step(1000)
    assert simulation.observe().readings.sum() == pytest.approx(share * WEIGHT, abs=0.02)


def test_step_raises_when_the_physics_breaks_until_reset():
    simulation = simulate()
    simulation.engine.data.qvel[0] = np.nan
    with pytest.raises(PhysicsError):
        simulation.step()
    simulation.reset()
    simulation.step(500)
    assert simulation.observe().forces_world.sum(axis=0) == pytest.approx([0, 0, WEIGHT], abs=0.01)


def test_joints_are_commanded_and_set_by_name():
    simulation = simulate()
    simulation.set_joints(position={"hinge": 0.3}, velocity={"hinge": -1.0})
    positions, velocities, _ = simulation.observe().joint_states
    assert (positions[0], velocities[0]) == (0.3, -1.0)
    simulation.engine.model.opt.gravity[:] = 0
    simulation.command_joints(position={"hinge": -0.2})
    simulation.step(5000)
    assert simulation.observe().joint_states[0][0] == pytest.approx(-0.2, abs=1e-3)


@pytest.mark.parametrize(
    "call",
    [
        lambda simulation: simulation.command_joints(position={"hinges": 0.0}),
        lambda simulation: simulation.command_joints(position={"hinge": np.inf}),
        lambda simulation: simulation.set_joints(position={"hinge": 0.1, "hing": 0.0}),
        lambda simulation: simulation.set_joints(velocity={"hinge": np.nan}),
    ],
)
def test_invalid_joint_values_change_nothing(call):
    simulation = simulate()
    before = simulation.engine.data.qpos.copy(), simulation.engine.data.ctrl.copy()
    with pytest.raises(CommandError):
        call(simulation)
    np.testing.assert_array_equal(simulation.engine.data.qpos, before[0])
    np.testing.assert_array_equal(simulation.engine.data.ctrl, before[1])

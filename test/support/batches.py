"""Scenes for the tests of batches, and a comparison with single simulations."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.batch import Batch
from tactile_sim.simulation import Simulation

SCENE = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .11"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="1"/></body>
  <body name="arm" pos="-.3 0 .3"><joint name="turn" axis="0 0 1" damping=".2"/>
    <joint name="lift" axis="0 1 0" damping=".2"/>
    <geom type="capsule" fromto="0 0 0 .35 0 -.12" size=".03" mass=".3"/>
    <site name="tip" pos=".35 0 -.12"/></body>
  <body name="ball" pos=".3 .1 .06"><freejoint/><geom size=".06" mass=".2"/></body></worldbody>
<actuator><position name="turn" joint="turn" kp="20" ctrlrange="-1 1"/>
  <general name="lift" joint="lift" gainprm="3" dyntype="filter" dynprm=".02" ctrlrange="-1 1"/></actuator>
<sensor><contact name="net" subtree1="box" data="force" reduce="netforce"/>
  <touch name="touch" site="tip"/></sensor>
<keyframe><key name="up" qpos="0 0 .3 1 0 0 0  .2 .3  .3 .1 .3 1 0 0 0" ctrl=".3 .1"/>
  <key name="left" qpos="0 0 .1 1 0 0 0  -.2 .1  .3 .1 .06 1 0 0 0" ctrl="-.5 -.2"/></keyframe></mujoco>"""
SKIN = {"scales": {"box": 0.04, "arm": 0.02}}
MEMORY = {
    "noise": {"std": 0.01},
    "hysteresis": {"fraction": 0.1},
    "slow_adaptation": {"fraction": 0.5, "time_constant": 0.1},
    "dead_taxels": {"fraction": 0.1},
    "delay": {"time": 0.02},
    "tare": {"at": 0.05},
}
SEED = 3


def scene() -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(SCENE)


def batch_of(count: int, settings: dict | None = None, threads: int = 0) -> Batch:
    return Batch(scene(), count, settings={"skin": SKIN, "seed": SEED} | (settings or {}), threads=threads)


def singles_of(count: int, settings: dict | None = None) -> list[Simulation]:
    wanted = {"skin": SKIN} | (settings or {})
    return [Simulation(scene(), wanted | {"seed": SEED + k}) for k in range(count)]


def assert_equal(batch: Batch, singles: list[Simulation]) -> None:
    """Assert that all states and observations of a batch equal those of single simulations."""
    seen = batch.observe()
    for k, single in enumerate(singles):
        snapshot = single.observe()
        pairs = [
            (batch.qpos[k], single.engine.data.qpos),
            (batch.qvel[k], single.engine.data.qvel),
            (batch.time[k], single.engine.time),
            (seen.readings[k], snapshot.readings),
            (seen.truth[k], snapshot.truth),
            (seen.wrenches[k], snapshot.wrenches),
            (seen.sensor_data[k], snapshot.sensor_data),
            (seen.contacts(k).values, snapshot.all_contacts.values),
            *zip((part[k] for part in seen.joint_states), snapshot.joint_states, strict=True),
        ]
        for many, one in pairs:
            np.testing.assert_array_equal(many, one)

"""A scene and a loader for the tests of MotrixSim."""

import mujoco

from tactile_sim.engines import Engine, make

MACHINE = """<mujoco><option timestep="0.001"/><worldbody>
  <body name="a" pos="0 0 1" euler="20 30 40">
    <joint name="twisted" axis="1 2 3" pos=".1 .2 .3" ref="20" damping=".3" armature=".02" stiffness="2"/>
    <geom size=".05" pos=".2 0 0" mass="1"/>
    <body euler="10 20 30" pos=".1 0 0"><joint type="slide" axis="1 1 0" damping="2" range="-.1 .1"/>
      <geom size=".05" pos=".2 0 0" mass="1"/></body></body>
  <body name="b" pos="2 0 1"><joint name="ball" type="ball"/>
    <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".03"/></body>
  <body name="c" pos="4 0 1" euler="10 0 30"><freejoint/>
    <geom type="box" size=".1 .2 .3" pos=".1 0 0" mass="2"/></body>
  <body name="d" pos="6 0 0"><joint name="servoed" damping=".1"/><joint name="moved" axis="0 1 0"/>
    <geom size=".1" pos=".1 0 0" mass="1"/></body></worldbody>
<actuator><position joint="servoed" kp="30" kv="2" gear="1.5" ctrlrange="-.5 .5"/>
  <motor joint="twisted" gear="2" forcerange="-1 1"/></actuator>
<keyframe><key name="bent" qpos=".3 .05  .8 .6 0 0  4 0 2 0 1 0 0  .1 .2" ctrl=".1 .2"/></keyframe>
</mujoco>"""
"""A scene with joints of all types at arbitrary angles, with damping, springs, limits and actuators."""


def of(text: str, engine_name: str = "motrix") -> Engine:
    """Load MJCF text into an engine."""
    spec = mujoco.MjSpec.from_string(text)
    return make(engine_name, spec, spec.compile())

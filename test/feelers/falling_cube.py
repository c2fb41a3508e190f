"""A cube that falls on a floor, of which feelers are to tell."""

from __future__ import annotations

LENGTH, HEIGHT, HALF, GRAVITY = 0.05, 0.2, 0.1, 9.81
"""Of feelers, of its lower side over the floor, half its side [m]; and [m/s2]."""


def mjcf(timestep: float) -> str:
    """The scene, with a time step [s]."""
    return f"""
<mujoco>
  <option timestep="{timestep}" gravity="0 0 -{GRAVITY}"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <body name="cube" pos="0 0 {HALF + HEIGHT}">
      <freejoint/>
      <geom name="side" type="box" size="{HALF} {HALF} {HALF}" mass="1"/>
    </body>
  </worldbody>
</mujoco>
"""

"""A cube with feelers that falls on a floor."""

from __future__ import annotations

LENGTH, HEIGHT, HALF, GRAVITY = 0.05, 0.2, 0.1, 9.81
"""Length of the feelers, initial height of the cube's lower face, half its edge length [m], and gravity
[m/s2]."""


def mjcf(timestep: float) -> str:
    """Return the MJCF of the scene with the specified time step [s]."""
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

"""A small scene, touch objects with specified readings, and access to the contents of a plot."""

from __future__ import annotations

import matplotlib
import numpy as np

from tactile_sim.mimo.touch import TrimeshTouch

matplotlib.use("Agg")

SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="post" pos="1 2 3" quat="0 0 0 1">
      <body name="arm" pos="0 0 .5" quat="0.70710678118654752 0.70710678118654752 0 0">
        <geom name="upper" type="box" size=".05 .04 .03"/>
        <geom name="lower" type="sphere" size=".03" pos=".1 0 0"/>
        <body name="tip" pos=".3 0 0"><geom name="tip" type="sphere" size=".03"/></body>
      </body>
    </body>
    <body name="block" pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
    <body name="bare" pos="-1 0 1"><geom size=".1"/></body>
  </worldbody>
</mujoco>"""
SCALES = {"arm": 0.02, "tip": 0.02, "block": 0.02}
# Poses in the scene above, calculated by hand. post: half a turn about z. arm: another quarter turn about x.
POST, ARM, TIP = np.array([1, 2, 3.0]), np.array([1, 2, 3.5]), np.array([0.7, 2, 3.5])
HALF_TURN = np.diag([-1.0, -1, 1])
ARM_IN_POST = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
ARM_IN_WORLD = HALF_TURN @ ARM_IN_POST
FORCES = {3: [0, 0, -2.0], 10: [1.0, 0, 0], 17: [0, 3.0, 0]}
"""Forces on some sensors [N], keyed by the index of the sensor."""


def made(env, kind=TrimeshTouch, touch="force_vector", **bodies):
    """Return a touch object with the specified readings of the named parts. All other readings are zero."""
    made = kind(env, {"scales": SCALES, "touch_function": touch, "response_function": "nearest"})
    outputs = {part: np.zeros_like(output) for part, output in made.sensor_outputs.items()}
    for name, forces in bodies.items():
        part = env.model.body(name).id if kind is TrimeshTouch else env.model.geom(name).id
        for sensor, force in forces.items():
            outputs[part][sensor] = force
    made.sensor_outputs = outputs
    return made


def drawn(ax, label):
    """Return the artist with the specified label, or None."""
    found = [artist for artist in ax.collections if artist.get_label() == label]
    assert len(found) <= 1
    return found[0] if found else None


def points(ax, label):
    return np.stack(drawn(ax, label)._offsets3d, axis=1)


def same_points(a, b):
    """Return whether two sets of points (n, 3) are equal in any order."""
    a, b = (np.array(sorted(np.round(p, 9).tolist())) for p in (a, b))
    return a.shape == b.shape and np.allclose(a, b, atol=1e-8)


def assert_arrows(ax, positions, forces):
    """Assert that arrows show these forces: tips at the sensors, lengths to scale, colors in newtons."""
    arrows = drawn(ax, "readings")
    tails, tips = (np.array([line[i] for line in arrows._segments3d]) for i in (0, 1))
    sizes = np.linalg.norm(forces, axis=1)
    order = np.argsort(sizes)
    np.testing.assert_allclose(tips, np.asarray(positions)[order], atol=1e-9)
    per_newton = np.linalg.norm(tips - tails, axis=1) / sizes[order]
    np.testing.assert_allclose(per_newton, per_newton[0], rtol=1e-6)
    np.testing.assert_allclose(tips - tails, per_newton[0] * np.asarray(forces)[order], atol=1e-9)
    np.testing.assert_allclose(arrows.get_array(), sizes[order], rtol=1e-6)


def labels(fig, ax):
    return ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel(), [other.get_ylabel() for other in fig.axes[1:]]

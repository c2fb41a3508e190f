"""With `elastic_foundation`, the published forces act at the positions of taxels with the engine's moment."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.pressing import TOP, G, block, on_plate, pressed

from tactile_sim.skin import Loads

CYLINDER = """<body pos=".0013 .0007 .02"><freejoint/>
    <geom type="cylinder" size=".02 .02" mass="1"/></body>"""


@pytest.mark.parametrize("spacing", [0.001, 0.002, 0.004])
@pytest.mark.parametrize("body", [block(euler="0 0 30", weight_at=".004 0 0"), CYLINDER])
def test_forces_at_the_taxels_have_the_moment_of_the_engine(body, spacing):
    simulation = on_plate(body, spacing, touch_function="force_vector")
    simulation.engine.data.qvel[:2], simulation.engine.data.qvel[5] = 0.02, 2.0  # slide and turn
    snapshot, skin = simulation.observe(), simulation.skin
    moment = np.cross(skin.surface_positions, snapshot.readings).sum(axis=0)
    assert abs(snapshot.wrenches[0, 5]) > 0.001 * G * 0.02
    np.testing.assert_allclose(moment, snapshot.wrenches[0, 3:], rtol=0, atol=1e-9 * G * 0.02)


@pytest.mark.parametrize("turn", [0, 20, 45])
@pytest.mark.parametrize("size", [0.3, 0.5, 1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("kind", ["box", "edge", "sphere"])
def test_center_of_pressure_of_small_objects_is_exact(kind, size, turn):
    spacing = 0.004
    half = size * spacing / 2
    geom = {
        "box": f'type="box" size="{half} {half} .01"',
        "edge": f'type="box" size="{half} .01 .01"',
        "sphere": f'size="{half}"',
    }[kind]
    lean, height = (45 * (kind == "edge")), {"box": 0.01, "edge": 0.01 * np.sqrt(2), "sphere": half}[kind]
    pose = Rotation.from_euler("xz", [lean, turn], degrees=True)
    skin, loads = pressed(geom, (0, 0, -1), spacing=spacing, quat=pose.as_quat(scalar_first=True))
    for step in np.arange(0.0, 1.0, 0.05):
        place, moved = np.array([0.0011 + step * spacing, 0.0007]), Loads(loads.table.copy())
        moved.point[:], moved.other_position[:] = [*place, TOP], [*place, TOP + height]
        reading = skin.readings_from_loads(moved, "normal", "elastic_foundation")[:, 0]
        center = reading @ skin.surface_positions[:, :2] / reading.sum()
        assert reading.min() >= 0.0
        np.testing.assert_allclose(center, place, rtol=0, atol=1e-6 * spacing)

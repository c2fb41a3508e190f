"""Moment and continuity of published readings: forces at the positions of the taxels."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.pads import simulation as with_pads

from tactile_sim import Simulation

SQRT2 = np.sqrt(2.0)
SHAPES = {
    "box": ('type="box" size="{0} {0} {0}"', 1.0, [1, 0, 0, 0]),
    "edge": ('type="box" size="{0} {0} {0}"', SQRT2, [np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0]),
    "rod": ('type="capsule" size="{0} {0}"', 1.0, [1 / SQRT2, 0, 1 / SQRT2, 0]),
    "sphere": ('size="{0}"', 1.0, [1, 0, 0, 0]),
}
"""A geom of half its width, the height of its center as a multiple of that, and its orientation (w x y z)."""
SIZES = 0.3, 0.6, 1.0, 1.7, 2.5, 4.0
"""Widths of the objects [spacings]."""
JUMPS = "the area of a contact changes in steps, from one quadrature point to the next"


class Plate:
    """A plate with taxels and an object that touches it."""

    def __init__(self, shape: str, size: float, spacing: float):
        self.spacing, half = spacing, 0.5 * size * spacing
        geom, height, self.upright = SHAPES[shape]
        self.height = half * height - min(1e-4, 0.1 * half)
        side = 8 * spacing
        self.simulation = Simulation(
            mujoco.MjSpec.from_string(f"""
                <mujoco><option cone="elliptic" gravity="0 0 0"/><default><geom condim="4"/></default>
                <worldbody>
                  <body name="plate"><geom type="box" size="{side} {side} .005" pos="0 0 -.005"/></body>
                  <body name="object"><freejoint/><geom mass=".5" {geom.format(half)}/></body>
                </worldbody></mujoco>"""),
            {"skin": {"scales": {"plate": spacing}, "touch_function": "force_vector"}},
        )
        self.positions = self.simulation.skin.positions

    def press(self, x: float, y: float, turn: float, linear=(0, 0, 0), angular=(0, 0, 0)):
        """Return the readings and the wrench with the object at a place [spacings] and turn [rad]."""
        quaternion = np.empty(4)
        mujoco.mju_mulQuat(quaternion, np.array([np.cos(turn / 2), 0, 0, np.sin(turn / 2)]), self.upright)
        place = np.array([x * self.spacing, y * self.spacing, self.height])
        self.simulation.set_body_state("object", place, quaternion, np.array(linear), np.array(angular))
        snapshot = self.simulation.observe()
        return snapshot.readings, snapshot.wrenches[0]


@pytest.mark.parametrize("spacing", [0.001, 0.002, 0.004])
def test_published_forces_have_the_moment_of_the_engine(spacing):
    for shape in SHAPES:
        for size in (0.3, 1.0, 4.0, 8.0):
            plate = Plate(shape, size, spacing)
            for x, y, turn in ((0.0, 0.0, 0.0), (0.3, 0.1, 0.4), (0.5, 0.5, np.pi / 4)):
                readings, wrench = plate.press(x, y, turn, [0.05, 0.02, 0], [0, 0, 3.0])
                moment = np.cross(plate.positions, readings).sum(axis=0)
                assert wrench[2] < 0.0
                np.testing.assert_allclose(
                    moment, wrench[3:], atol=-1e-5 * wrench[2] * spacing, err_msg=shape
                )


@pytest.mark.xfail(strict=True, reason=JUMPS)
def test_ball_slides_continuously_over_the_seam_of_two_geoms():
    simulation = Simulation(
        mujoco.MjSpec.from_string("""
            <mujoco><option gravity="0 0 0"/><worldbody>
              <body name="plate"><geom type="box" size=".03 .015 .005" pos="0 .015 -.005"/>
                <geom type="box" size=".03 .015 .005" pos="0 -.015 -.005"/></body>
              <body name="ball"><freejoint/><geom size=".01" mass=".1"/></body>
            </worldbody></mujoco>"""),
        {"skin": {"scales": {"plate": 0.005}, "touch_function": "normal"}},
    )
    shares = []
    for y in np.arange(-0.005, 0.005, 5e-5):  # steps of a hundredth of the spacing
        place = np.array([0.0024, y, 0.0095])
        simulation.set_body_state("ball", place, np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))
        snapshot = simulation.observe()
        shares.append(snapshot.readings[:, 0] / -snapshot.wrenches[0, 2])
    assert np.abs(np.diff(shares, axis=0)).max() < 0.0101


@pytest.mark.xfail(strict=True, reason=JUMPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_small_objects_slide_continuously_with_the_right_center_of_pressure(shape):
    for size in SIZES:
        plate = Plate(shape, size, 0.004)
        for y, turn in ((0.0, 0.0), (0.2, 0.4), (0.5, np.pi / 4)):
            shares = []
            for x in np.arange(0.0, 1.005, 0.01):
                readings, wrench = plate.press(x, y, turn)
                shares.append(readings[:, 2] / wrench[2])
                center = shares[-1] @ plate.positions[:, :2]
                expected = np.array([-wrench[4], wrench[3]]) / wrench[2]
                assert np.linalg.norm(center - expected) < 0.1 * plate.spacing, (size, x, y)
            # A point load that two taxels share in proportion moves 1 % within a hundredth of the spacing.
            assert np.abs(np.diff(shares, axis=0)).max() < 0.0101, (size, y)


RIM = "the load jumps between the outermost taxels"
PRESETS = [
    "contactile_papillarray",
    "icub_triangle",
    "inspire_rh56dftp_pad",
    pytest.param("inspire_rh56dftp_palm", marks=pytest.mark.xfail(strict=True, reason=RIM)),
    "inspire_rh56dftp_tip",
    "inspire_rh56dftp_top",
    pytest.param("paxini_px6ax", marks=pytest.mark.xfail(strict=True, reason=RIM)),
    pytest.param("resistive_16x16", marks=pytest.mark.xfail(strict=True, reason=RIM)),
    "reskin",
    "robotiq_tsf85",
    "robotis_hx5_tip",
    pytest.param("unitree_dex3", marks=pytest.mark.xfail(strict=True, reason=RIM)),
    "xela_uspa44",
    "xela_uspa46",
    "xhand1_tip",
]
"""The presets for flat surfaces."""
BALL = '<body name="ball"><freejoint/><geom size=".01" mass=".05"/></body>'


def largest_change(simulation: Simulation, places: np.ndarray) -> float:
    """Return the largest change of a taxel between consecutive places (n, 3) of the ball [load]."""
    shares = []
    for place in places:
        simulation.set_body_state("ball", place, np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))
        reading = simulation.observe().readings[:, 0]
        shares.append(reading / reading.sum())
    return np.abs(np.diff(shares, axis=0)).max()


@pytest.mark.parametrize("preset", PRESETS)
def test_ball_slides_continuously_over_the_rims_of_presets(preset):
    body = '<body name="b"><geom type="box" size=".1 .1 .01" pos="0 0 -.01"/></body>'
    made = with_pads(body + BALL, {"p": {"body": "b", "preset": preset}}, touch_function="normal")
    spacing, taxels = made.skin.pads[0].spacing, made.skin.surface_positions
    rim = taxels[taxels[:, 0].argmax()]
    x = rim[0] + np.arange(-2.0, 0.5, 0.01) * spacing
    places = np.stack([x, np.full(len(x), rim[1] + 0.13 * spacing), np.full(len(x), 0.0098)], axis=1)
    assert largest_change(made, places) < 0.021


@pytest.mark.parametrize("shape", ["sphere", "cylinder"])
def test_ball_rolls_continuously_over_the_rims_of_curved_pads(shape):
    radius, geom = {
        "sphere": (0.02, 'type="sphere" size=".02"'),
        "cylinder": (0.015, 'type="cylinder" size=".015 .03" euler="90 0 0"'),
    }[shape]
    body = f'<body name="b"><geom {geom} pos="0 0 {-radius}"/></body>'
    pad = {"body": "b", "spacing": 0.004, "region": {"normal": [0, 0, 1], "within": 50.0}}
    made = with_pads(body + BALL, {"p": pad}, touch_function="normal")
    angle = np.arange(0.0, 1.0, 0.00004 / radius)  # steps of a hundredth of the spacing
    far = radius + 0.0099
    places = np.stack(
        [far * np.sin(angle), np.full(len(angle), 0.0006), far * np.cos(angle) - radius], axis=1
    )
    assert largest_change(made, places) < 0.021

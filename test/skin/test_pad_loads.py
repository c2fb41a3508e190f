"""Readings of pads: loads, edges, shear, and the taxels that share the loads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.pads import PAD_GEOM, PITCH, contacts_at, poses, readings, simulation


def test_ball_rolled_along_a_row_moves_the_peak_through_the_ids():
    made = simulation(
        f'<body name="tip">{PAD_GEOM}</body>'
        '<body name="ball"><freejoint/><geom size=".006" mass=".05"/></body>',
        {"tip": {"body": "tip", "preset": "xela_uspa44"}},
        touch_function="normal",
    )
    peaks = []
    for x in np.linspace(-0.0075, 0.0075, 21):
        made.reset()
        made.set_body_state(
            "ball", np.array([x, PITCH[1] / 2, 0.0059]), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)
        )
        made.step(3)
        peaks.append(int(made.skin.ids[np.argmax(made.observe().truth[:, 0])]))
    assert list(dict.fromkeys(peaks)) == [8, 9, 10, 11]


@pytest.mark.parametrize("seed", range(20))
def test_shear_along_a_pads_x_axis_reads_plus_x_in_any_orientation(seed):
    rng = np.random.default_rng(seed)
    turn, place = Rotation.random(random_state=seed), rng.uniform(-1, 1, 3)
    w, x, y, z = turn.as_quat(scalar_first=True)
    middle = " ".join(map(str, place - 0.01 * turn.apply([0, 0, 1])))
    geom = f'<geom type="box" size=".02 .02 .01" pos="{middle}" quat="{w} {x} {y} {z}"/>'
    made = simulation(
        f'<body name="tip">{geom}</body>',
        {
            "tip": {
                "body": "tip",
                "preset": "xela_uspa44",
                "position": place.tolist(),
                "orientation": [x, y, z, w],
            }
        },
    )
    contacts = contacts_at(
        [place + turn.apply([0.002, -0.001, 0])], [turn.apply([0.5, 0, -2.0])], [turn.apply([0, 0, -1.0])]
    )
    for response in ("spread_linear", "nearest", "hertz"):
        felt = made.skin.readings_from_contacts(contacts, *poses(made), "force_vector_taxel", response)
        touched = felt.any(axis=1)
        assert touched.any()
        np.testing.assert_allclose(felt[touched, 0] / felt[touched, 2], 0.25, atol=1e-9)
        np.testing.assert_allclose(felt.sum(axis=0), [0.5, 0, 2.0], atol=1e-9)


def test_known_weight_on_each_of_five_tips_reads_on_that_tip_only():
    bodies = "".join(
        f'<body name="tip{k}" pos="{k} 0 0">{PAD_GEOM}</body>'
        f'<body name="weight{k}" pos="{k} 0 {0.0049 if k in (0, 2, 3) else 9}">'
        f'<freejoint/><geom size=".005" mass=".1" condim="6" friction="1 .1 .1"/></body>'
        for k in range(5)
    )
    pads = {f"tip{k}": {"body": f"tip{k}", "preset": "xela_uspa44"} for k in range(5)}
    made = simulation(bodies, pads, touch_function="force_vector_taxel")
    made.step(400)
    felt = made.observe().readings[:, 2]
    for k, pad in enumerate(made.skin.pads):
        expected = 0.981 if k in (0, 2, 3) else 0.0
        assert felt[pad.start : pad.stop].sum() == pytest.approx(expected, rel=0.01, abs=1e-12)


@pytest.mark.parametrize("response", ["nearest", "spread_linear", "hertz", "elastic_foundation"])
@pytest.mark.parametrize("seed", range(8))
def test_taxels_and_what_falls_outside_sum_to_the_contact_force(seed, response):
    rng = np.random.default_rng(seed)
    kinds = [
        'type="box" size=".03 .02 .02"',
        'type="sphere" size=".03"',
        'type="capsule" size=".02 .02"',
        'type="ellipsoid" size=".03 .02 .02"',
    ]
    xml = '<geom type="plane" size="1 1 1"/>' + "".join(
        f'<body name="b{k}" pos="{x:.4f} {y:.4f} {0.04 + 0.05 * k}" euler="{10 * k} 20 0"><freejoint/>'
        f"<geom {kinds[rng.integers(4)]}/></body>"
        for k, (x, y) in enumerate(rng.uniform(-0.02, 0.02, (4, 2)))
    )
    pads = {}
    for k in range(4):
        outside = ["ignore", "nearest"][rng.integers(2)]
        normal = rng.normal(size=3).tolist()
        pads[f"half{k}"] = {
            "body": f"b{k}",
            "spacing": float(rng.uniform(0.004, 0.009)),
            "region": {"normal": normal, "within": 80.0},
            "outside": outside,
        }
        if k % 2:
            pads[f"other{k}"] = {
                "body": f"b{k}",
                "spacing": 0.006,
                "region": {"normal": [-x for x in normal], "within": 70.0},
                "outside": "ignore",
            }
    made = simulation(xml, pads, response_function=response)
    made.step(250)
    snapshot = made.observe()
    felt = snapshot.ideal_readings("force_vector")
    counts, lost = snapshot.outside
    assert len(snapshot.all_contacts) >= 4
    for slot, body in enumerate(made.skin.body_ids):
        own = felt[np.isin(made.skin.pad_index, np.flatnonzero(made.skin.pad_bodies == body))].sum(axis=0)
        pad = np.flatnonzero(made.skin.pad_bodies == body)[0]
        np.testing.assert_allclose(
            own + lost[slot],
            snapshot.wrenches[pad, :3],
            rtol=0,
            atol=1e-9 * (1 + np.abs(snapshot.wrenches).max()),
        )
        assert (counts[slot] > 0) == lost[slot].any()
    np.testing.assert_allclose(
        made.skin.readings_from_loads(
            made.skin.loads(snapshot.all_contacts, *poses(made)), "force_vector", response
        ),
        felt,
        atol=1e-12,
    )


def test_load_beyond_the_edge_is_left_out_or_goes_to_the_nearest_taxel():
    grid = {"rows": 2, "columns": 2, "pitch": [0.004, 0.004]}
    for outside, expected in (("ignore", 0.0), ("nearest", 3.0)):
        made = simulation(
            '<body name="b"><geom type="box" size=".1 .1 .01" pos="0 0 -.01"/></body>',
            {"p": {"body": "b", "grid": grid, "outside": outside}},
        )
        assert readings(made, [[0.02, 0, 0]], [[0, 0, -3.0]])[:, 2].sum() == pytest.approx(expected)
        counts, lost = made.skin.outside(contacts_at([[0.02, 0, 0]], [[0, 0, -3.0]]), *poses(made))
        assert counts.tolist() == [int(outside == "ignore")]
        assert lost[0, 2] == pytest.approx(expected - 3.0)


def test_load_between_two_pads_is_shared_by_both():
    grid = {"rows": 2, "columns": 2, "pitch": [0.004, 0.004]}
    made = simulation(
        '<body name="b"><geom type="box" size=".1 .1 .01" pos="0 0 -.01"/></body>',
        {
            "l": {"body": "b", "grid": grid, "position": [-0.004, 0.0, 0.0]},
            "r": {"body": "b", "grid": grid, "position": [0.004, 0.0, 0.0]},
        },
    )
    felt = readings(made, [[0, 0, 0]], [[0, 0, -3.0]])[:, 2]
    assert felt[:4].sum() == pytest.approx(1.5) and felt[4:].sum() == pytest.approx(1.5)


@pytest.mark.parametrize("height", [-0.003, 0.003])
def test_taxels_off_the_surface_are_published_as_given_and_feel_as_on_it(height):
    body = '<body name="b"><geom type="sphere" size=".05" pos="0 0 -.05"/></body>'
    grid = {"rows": 4, "columns": 4, "pitch": [0.004, 0.004]}
    made = simulation(body, {"p": {"body": "b", "grid": grid, "position": [0.0, 0.0, height]}})
    assert (made.skin.positions[:, 2] == height).all()
    center = np.array([0, 0, -0.05])
    np.testing.assert_allclose(np.linalg.norm(made.skin.surface_positions - center, axis=1), 0.05, rtol=1e-9)
    felt = readings(made, [made.skin.surface_positions[5]], [[0, 0, -1.0]], response="nearest")
    assert np.flatnonzero(felt.any(axis=1)).tolist() == [5]


@pytest.mark.parametrize("turn", [[0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
def test_pad_of_one_taxel_takes_all_by_elastic_foundation(turn):
    face = [0, 0, 0] if turn[3] == 1 else [0.02, 0, -0.02]
    made = simulation(
        '<geom type="plane" size="1 1 1" pos="0 0 -1"/>'
        '<body name="b"><geom type="box" size=".02 .02 .02" pos="0 0 -.02"/></body>'
        '<body name="ball" pos=".001 0 .0099"><freejoint/><geom size=".01" mass=".1"/></body>',
        {
            "p": {
                "body": "b",
                "grid": {"rows": 1, "columns": 1, "pitch": [0.004, 0.004]},
                "position": face,
                "orientation": turn,
            }
        },
        response_function="elastic_foundation",
    )
    made.step(100)
    np.testing.assert_allclose(made.observe().readings, [[0, 0, -0.981]], atol=1e-3)

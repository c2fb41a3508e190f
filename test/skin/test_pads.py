"""Pads: taxels where a real sensor has them, in its order and along its axes."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tactile_sim import ConfigError, presets
from tactile_sim.config.pad_settings import PAD
from tactile_sim.engines.contacts import Contacts
from tactile_sim.simulation import Simulation
from tactile_sim.skin.pads.projection import closest_points
from tactile_sim.skin.placement.shapes import Shape

PITCH = 0.00425, 0.0047
PAD_GEOM = '<geom type="box" size=".0113 .0123 .00275" pos="0 0 -.00275"/>'
"""A body of the size of a uSPa 44; the origin is in the middle of its face."""


def simulation(xml: str, pads: dict, **skin) -> Simulation:
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{xml}</worldbody></mujoco>")
    return Simulation(spec, {"skin": {"pads": pads, **skin}})


def readings(made: Simulation, points, forces, touch="force_vector_taxel", response="spread_linear"):
    """Readings of contacts with body 1 at points (m, 3) with forces (m, 3) on it, world frame."""
    return made.skin.feel(contacts_at(points, forces), *poses(made), touch, response)


def poses(made: Simulation):
    made.engine.forward()
    return made.engine.body_positions, made.engine.body_rotations


def contacts_at(points, forces, normals=None, geom=0, body=1) -> Contacts:
    contacts = Contacts.empty(len(points))
    contacts.position[:] = points
    contacts.wrench_world[:, :3] = forces
    contacts.frame[:, 0] = [0, 0, -1] if normals is None else normals
    contacts.geoms[:] = -1, geom
    contacts.bodies[:] = -1, body
    return contacts


def test_uspa44_has_16_taxels_at_its_pitch_with_ids_and_axes_in_order():
    made = simulation(
        f'<body name="tip">{PAD_GEOM}</body>', {"tip": {"body": "tip", "preset": "xela_uspa44"}}
    )
    skin, (pad,) = made.skin, made.skin.pads
    assert len(skin.positions) == 16
    grid = skin.positions.reshape(4, 4, 3)
    np.testing.assert_allclose(
        np.diff(grid, axis=1), np.broadcast_to([PITCH[0], 0, 0], (4, 3, 3)), atol=1e-12
    )
    np.testing.assert_allclose(
        np.diff(grid, axis=0), np.broadcast_to([0, PITCH[1], 0], (3, 4, 3)), atol=1e-12
    )
    np.testing.assert_allclose(skin.positions.mean(axis=0), 0, atol=1e-12)
    assert skin.ids.tolist() == list(range(16))
    np.testing.assert_array_equal(4 * pad.rows + pad.columns, skin.ids)
    np.testing.assert_array_equal(skin.axes, np.tile(np.eye(3), (16, 1, 1)))
    assert made.stream_of("tip") == "tactile/tip" and made.pad_rates == {"tactile/tip": 500.0}
    assert made.signal_chain.staged.all()


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
                "orientation": [w, x, y, z],
            }
        },
    )
    contacts = contacts_at(
        [place + turn.apply([0.002, -0.001, 0])], [turn.apply([0.5, 0, -2.0])], [turn.apply([0, 0, -1.0])]
    )
    for response in ("spread_linear", "nearest", "hertz"):
        felt = made.skin.feel(contacts, *poses(made), "force_vector_taxel", response)
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
    felt = made.observe().taxels[:, 2]
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
    felt = snapshot.sense("force_vector")
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
        made.skin.sense(made.skin.loads(snapshot.all_contacts, *poses(made)), "force_vector", response),
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


def test_sites_give_positions_axes_and_body():
    sites = (
        '<site name="taxel_b" pos="0 .01 0" zaxis="0 0 1"/>'
        '<site name="taxel_a" pos=".01 0 0" euler="0 0 90"/>'
    )
    made = simulation(
        f'<body name="b"><geom type="box" size=".05 .05 .01" pos="0 0 -.01"/>{sites}</body>',
        {"ring": {"sites": ["taxel_*"]}},
    )
    assert made.skin.pads[0].body_id == 1
    np.testing.assert_allclose(made.skin.positions, [[0, 0.01, 0], [0.01, 0, 0]])
    np.testing.assert_allclose(made.skin.axes[1], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-12)
    assert made.skin.spacings[0] == pytest.approx(0.01 * np.sqrt(2))


def test_geoms_and_regions_cover_part_of_a_body():
    body = (
        '<body name="b"><geom name="bone" type="sphere" size=".02"/>'
        '<geom name="rubber_1" type="sphere" size=".01" pos="0 0 .03"/></body>'
    )
    made = simulation(
        body,
        {
            "tip": {"geoms": ["rubber_*"], "spacing": 0.002},
            "down": {"body": "b", "spacing": 0.002, "region": {"normal": [0, 0, -1], "within": 60}},
            "corner": {"body": "b", "spacing": 0.002, "region": {"box": [0, 0, 0, 0.02, 0.02, 0.02]}},
        },
    )
    corner, down, tip = (made.skin.positions[pad.start : pad.stop] for pad in made.skin.pads)
    np.testing.assert_allclose(np.linalg.norm(tip - [0, 0, 0.03], axis=1), 0.01, rtol=1e-6)
    pad = made.skin.pads[1]
    assert len(down) and (made.skin.normals[pad.start : pad.stop, 2] <= -0.5).all()
    assert (corner >= 0).all() and len(corner)


def test_layout_files_of_all_formats_give_the_same_taxels(tmp_path):
    positions, normals = np.array([[0, 0, 0.0], [0.004, 0, 0], [0, 0.004, 0]]), np.tile([0, 0, 2.0], (3, 1))
    arrays = {
        "positions": positions,
        "normals": normals,
        "tangents": np.tile([0, 1.0, 1.0], (3, 1)),
        "ids": [7, 3, 5],
        "rows": [0, 0, 2],
        "columns": [0, 4, 0],
    }
    np.savez(tmp_path / "l.npz", **arrays)
    lines = ["id, x,y,z,nx,ny,nz,tx,ty,tz,row,column"]
    lines += [
        ",".join(
            map(
                str,
                [
                    arrays["ids"][k],
                    *positions[k],
                    *normals[k],
                    0,
                    1,
                    1,
                    arrays["rows"][k],
                    arrays["columns"][k],
                ],
            )
        )
        for k in range(3)
    ]
    (tmp_path / "l.csv").write_text("# a comment\n" + "\n".join(lines))
    (tmp_path / "l.yaml").write_text(
        "\n".join(f"{key}: {np.asarray(value).tolist()}" for key, value in arrays.items())
    )
    for name in ("l.csv", "l.npz", "l.yaml"):
        made = simulation(
            '<body name="b"><geom type="box" size=".05 .05 .01" pos="0 0 -.01"/></body>',
            {"p": {"body": "b", "layout": str(tmp_path / name)}},
        )
        np.testing.assert_allclose(made.skin.positions, positions)
        assert made.skin.ids.tolist() == [7, 3, 5]
        np.testing.assert_allclose(made.skin.axes[0], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-12)
        assert made.skin.pads[0].rows.tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    "kind",
    [
        'type="sphere" size=".03"',
        'type="capsule" size=".02 .04"',
        'type="cylinder" size=".02 .03"',
        'type="box" size=".01 .02 .03"',
        'type="ellipsoid" size=".01 .02 .03"',
    ],
)
def test_closest_points_are_on_the_surface_along_its_normal(kind):
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><geom {kind} pos=".1 0 0" euler="10 20 30"/></body></worldbody></mujoco>'
    )
    shape = Shape.of_geom(model, 0)
    points = np.random.default_rng(0).normal(size=(200, 3)) * 0.03 + [0.1, 0, 0]
    found = closest_points(shape, points)
    np.testing.assert_allclose(shape.depth(found), 0, atol=1e-9)
    others = closest_points(shape, np.random.default_rng(1).normal(size=(4000, 3)) * 0.1 + [0.1, 0, 0])
    least = np.linalg.norm(points[:, None] - others, axis=2).min(axis=1)
    distance = np.linalg.norm(points - found, axis=1)
    assert (distance <= least + 1e-9).all()
    assert (least - distance < 0.006).all()


@pytest.mark.parametrize("name", presets.names())
def test_presets_are_complete_and_fit_a_body(name):
    preset = presets.load(name)
    assert {"layout", "axes", "ids", "range", "rate", "latency"} <= set(preset.figures)
    for figure in preset.figures.values():
        assert figure.grade in presets.GRADES and bool(figure.source) == (figure.grade != "estimated")
    geom = {
        "xela_uscu": '<geom type="capsule" size=".0144 .05" pos="0 -.05 0" euler="90 0 0"/>',
        "adi_dex01": '<geom type="ellipsoid" size=".01635 .011205 .019"/>',
    }.get(name, '<geom type="box" size=".1 .1 .01" pos="0 0 -.01"/>')
    made = simulation(f'<body name="b">{geom}</body>', {"p": {"body": "b", "preset": name}})
    counts = {
        "xela_uscu": 30,
        "adi_dex01": 738,
        "xhand1_tip": 120,
        "resistive_16x16": 256,
        "inspire_rh56dftp_palm": 112,
    }
    assert len(made.skin.positions) == counts.get(name, len(made.skin.positions))
    np.testing.assert_allclose(made.skin.positions, made.skin.surface_positions, atol=2e-7)
    assert made.skin.pads[0].ignores_outside
    assert all(
        flat in PAD
        for key, value in preset.pad.items()
        for flat in ([f"{key}.{leaf}" for leaf in value] if isinstance(value, dict) else [key])
    )


def test_keys_of_a_pad_override_those_of_its_preset():
    body = f'<body name="tip">{PAD_GEOM}</body>'
    made = simulation(
        body,
        {
            "tip": {
                "body": "tip",
                "preset": "xela_uspa44",
                "grid": {"rows": 2, "columns": 3},
                "rate": 50,
                "outside": "nearest",
            }
        },
        sensor={"tip": {"saturation": {"level": 2.0}}},
    )
    assert made.skin.positions[1] - made.skin.positions[0] == pytest.approx([PITCH[0], 0, 0])
    assert len(made.skin.positions) == 6 and made.pad_rates == {"tactile/tip": 50.0}
    assert not made.skin.pads[0].ignores_outside
    for reading, expected in ((10.0, 2.0), (0.0123, 0.012)):  # the preset's quantisation stays
        out = made.signal_chain.peek(0, np.tile([0, 0, reading], (6, 1)))
        np.testing.assert_allclose(out[:, 2], expected, atol=1e-12)


def test_pads_keep_the_scales_of_other_bodies():
    made = simulation(
        f'<body name="tip">{PAD_GEOM}</body><body name="b"><geom size=".05"/></body>',
        {"front": {"body": "tip", "preset": "xela_uspa44"}},
        scales={"b": 0.02},
    )
    assert [pad.name for pad in made.skin.pads] == ["front", "b"]
    assert made.skin.pads[1].is_whole


def test_a_skin_of_separate_geoms_cannot_have_pads():
    with pytest.raises(ConfigError, match="kind"):
        simulation(
            f'<body name="tip">{PAD_GEOM}</body>',
            {"p": {"body": "tip", "preset": "xela_uspa44"}},
            kind="geom",
        )


@pytest.mark.parametrize("turn", [[1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]])
def test_pad_of_one_taxel_takes_all_by_elastic_foundation(turn):
    face = [0, 0, 0] if turn[0] == 1 else [0.02, 0, -0.02]
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
    np.testing.assert_allclose(made.observe().taxels, [[0, 0, -0.981]], atol=1e-3)

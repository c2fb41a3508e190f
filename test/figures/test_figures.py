"""Test the figures of a bag that records a falling cube with known forces."""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from support.errors import raises
from support.falling_bag import GRID, IMPACT, LANDING, LAYOUT, STEP, WEIGHT, Cube, Making
from support.figures import figure, recorded

from tactile_sim import BagError
from tactile_sim.figures import style
from tactile_sim.figures.messages import Frame, Span
from tactile_sim.figures.pad_layout import pad_layout
from tactile_sim.figures.plots import FIGURES, MissingTopics, raster
from tactile_sim.figures.plots import forces as draw_forces
from tactile_sim.figures.recording import BINS, Raster, Touch
from tactile_sim.simulation import Simulation


def test_force_of_a_resting_body_is_its_weight(fall):
    ax = figure("forces", recorded(fall)).axes[0]
    [line] = ax.lines
    times, force = line.get_data()
    np.testing.assert_allclose(times, np.arange(51) * 0.02, atol=1e-9)
    np.testing.assert_array_equal(force[:LANDING], 0.0)
    assert force[LANDING] == pytest.approx(IMPACT, rel=1e-6)
    np.testing.assert_allclose(force[LANDING + 1 :], WEIGHT, rtol=1e-6)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("simulation time [s]", "net force [N]")
    assert "cube" in line.get_label() and "29.4" in line.get_label()


def test_pads_with_different_units_have_panels_of_their_own():
    touch = Touch(SimpleNamespace(topics=(), of=lambda frame: [frame]), Span())
    for stamp, force, pressure in ((0, 1.0, 3e4), (1, 2.0, 1e4)):
        readings = np.array([[0.0, 0.0, force], [pressure, 0.0, 0.0], [force, 0.0, 0.0]])
        quantities, units = ("force_vector", "pressure", "normal"), ("N", "Pa", "N")
        touch.add(Frame(stamp, 7, quantities, units, ("a", "b", "c"), np.array([1, 1, 1]), readings))
    (forces, on_force), (pressures, on_pressure) = touch.split()
    assert (forces.unit, on_force, forces.peak.stamp, forces.peak.total) == ("N", [0, 2], 1, 4.0)
    assert (pressures.unit, on_pressure, pressures.peak.stamp, pressures.peak.total) == ("Pa", [1], 0, 3e4)
    axes = draw_forces(touch.split()).axes
    assert [ax.get_ylabel() for ax in axes] == ["net force [N]", "net pressure [Pa]"]
    assert [len(ax.lines) for ax in axes] == [2, 1]
    assert "force per taxel [N]" in {ax.get_ylabel() for ax in raster(touch.split()).axes}


def test_body_arrays_give_the_same_history_as_the_frame(fall, make_bag):
    bodies = ("a", "b", "c")
    whole = recorded(make_bag(Cube(bodies=bodies))).touch
    parts = recorded(make_bag(Cube(bodies=bodies, without=["/frame"]))).touch
    assert parts.bodies == whole.bodies == bodies
    np.testing.assert_array_equal(parts.nets, whole.nets)
    np.testing.assert_array_equal(parts.offsets, whole.offsets)


def test_layout_of_a_pad_is_seen_from_outside_and_its_back_from_behind():
    scene = """<mujoco><worldbody><body name="tip"><geom size=".02"/></body>
      <body name="side" pos="1 0 0"><geom type="box" size=".01 .01 .01"/></body></worldbody></mujoco>"""
    grid = {"rows": 2, "columns": 2, "pitch": [0.004, 0.004]}
    turned = {"position": [-0.01, 0.0, 0.0], "orientation": [0.5, -0.5, -0.5, 0.5]}  # xyz becomes -y, z, -x
    pads = {"tip": {"body": "tip", "spacing": 0.008}, "side": {"body": "side", "grid": grid, **turned}}
    skin = Simulation(mujoco.MjModel.from_xml_string(scene), {"skin": {"pads": pads}}).skin
    front, back, side = pad_layout(skin).axes[:3]
    shown = [{text.get_text() for text in ax.texts} for ax in (front, back, side)]
    assert shown[0] | shown[1] == {str(taxel) for taxel in skin.ids[: skin.pads[0].stop]}
    assert not shown[0] & shown[1] and shown[2] == set("0123")
    assert (side.get_xlabel(), side.get_ylabel()) == ("−y of the body [mm]", "z of the body [mm]")


def test_strongest_bodies_have_lines_and_the_rest_is_summed(make_bag):
    bodies = [f"body_{k}" for k in range(38)]
    recording = recorded(make_bag(Cube(bodies=bodies)))
    ax = figure("forces", recording).axes[0]
    labels = [line.get_label() for line in ax.lines]
    assert len(labels) == 8 and labels[0].startswith("body_0 ") and "31" in labels[-1]
    share = sum(1 / (k + 1) for k in range(7, 38))
    assert ax.lines[-1].get_ydata()[-1] == pytest.approx(share * WEIGHT, rel=1e-5)
    two = figure("forces", recording, ["body_3", "body_1?"]).axes[0]
    assert [line.get_label().split()[0] for line in two.lines][:2] == ["body_3", "body_10"]
    raster = figure("raster", recording).axes[0]
    names = raster.get_yticklabels()
    assert [name.get_text() for name in names] == bodies, "each loaded body has a label"
    pitch = np.diff([raster.transData.transform((0, tick))[1] for tick in raster.get_yticks()])
    assert (np.abs(pitch) / raster.figure.dpi > 0.11).all(), "labels of 8 points do not overlap"


def test_raster_has_a_row_for_each_loaded_taxel(fall):
    fig = figure("raster", recorded(fall))
    [image] = fig.axes[0].images
    rows = np.ma.filled(image.get_array(), 0.0)
    assert rows.shape == (GRID**2, 51)
    assert not rows[:, :LANDING].any()
    np.testing.assert_allclose(rows[:, LANDING], IMPACT / GRID**2, rtol=1e-6)
    np.testing.assert_allclose(rows[:, -1], WEIGHT / GRID**2, rtol=1e-6)
    assert "25 of 150" in fig.axes[0].get_title(loc="left") and "[N]" in fig.axes[1].get_ylabel()


def test_long_raster_keeps_the_peak_of_each_interval():
    raster = Raster()
    for k in range(10 * BINS):
        raster.add(k * 0.01, np.array([float(k), 5.0 if k == 1234 else 0.0]))
    assert BINS < len(raster.rows) <= 2 * BINS
    values = np.stack(raster.rows)
    assert values[-1, 0] == 10 * BINS - 1 and values[:, 1].max() == 5.0
    place = int(values[:, 1].argmax())
    assert raster.starts[place] <= 12.34 < raster.starts[place + 1]


def test_timeline_shows_contacts_from_landing_on(fall):
    ax, bar = figure("contacts", recorded(fall)).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cube – table"]
    force = ax.images[0].get_array()[0]
    assert np.ma.getmaskarray(force)[:LANDING].all() and not np.ma.getmaskarray(force)[LANDING:].any()
    assert force[LANDING] == pytest.approx(IMPACT, rel=1e-6)
    assert force[-1] == pytest.approx(WEIGHT, rel=1e-6)
    assert bar.get_ylabel() == "contact force [N]"


def test_light_touch_is_brighter_than_background(fall):
    def brightness(colors):
        return np.asarray(colors)[..., :3] @ [0.2126, 0.7152, 0.0722]

    recording = recorded(fall)
    faintest = brightness(style.shades(np.array([1e-9]), style.scale(np.array([1.0]))))
    for name in ("contacts", "raster"):
        assert brightness(figure(name, recording).axes[0].get_facecolor()) < 0.6 * faintest
    discs = figure("peak", recording).axes[0].collections[-1].get_facecolor()
    unloaded = discs[np.ptp(discs[:, :3], axis=1) < 0.2]
    assert len(unloaded) and (brightness(unloaded) < faintest).all()


def test_peak_is_at_landing_with_the_poses_of_that_time(fall):
    recording = recorded(fall)
    assert recording.touch.peak.stamp == LANDING * STEP
    fig = figure("peak", recording)
    assert "0.200 s" in fig.get_suptitle() and "sum 29.4 N" in fig.axes[0].get_title(loc="left")
    assert "net 29.4 N" in {text.get_text() for text in fig.axes[0].texts}
    colors = fig.axes[0].collections[-1].get_facecolor()[:, :3]
    assert (np.ptp(colors, axis=1) > 0.2).sum() == GRID**2  # unloaded taxels are gray


def test_text_of_the_net_force_is_in_the_panel_and_does_not_cover_its_arrow(fall):
    fig = figure("peak", recorded(fall))
    fig.draw_without_rendering()
    ax = fig.axes[0]
    [text] = [text for text in ax.texts if text.get_text().endswith(" N")]
    [arrow] = [text for text in ax.texts if text.arrow_patch]
    box, (tip, tail) = text.get_window_extent(), ax.transData.transform([arrow.xy, arrow.xyann])
    assert np.linalg.norm(tip - tail) > 20.0
    assert not any(box.contains(*(tail + share * (tip - tail))) for share in np.linspace(0.0, 1.0, 100))
    assert all(ax.get_window_extent().contains(*corner) for corner in (box.min, box.max))


def test_span_limits_what_is_drawn(fall):
    recording = recorded(fall, Span(0.5, 0.7))
    assert recording.times[[0, -1]] == pytest.approx([0.5, 0.7]) and len(recording.times) == 11
    assert recording.touch.peak.total == pytest.approx(WEIGHT, rel=1e-6)
    with raises(BagError, "5 s"):
        recorded(fall, Span(5.0))


def test_missing_topics_are_named(make_bag):
    without = recorded(make_bag(Cube(without=["/layout"])))
    with raises(MissingTopics, "tactile/BODY/layout"):
        figure("peak", without)
    contacts_only = recorded(make_bag(Cube(without=["/tactile/"])))
    assert contacts_only.bodies([]) == ["cube", "table"]
    assert figure("contacts", contacts_only).axes
    with raises(MissingTopics, "tactile/frame"):
        figure("forces", contacts_only)
    unposed = figure("peak", recorded(make_bag(Cube(without=["/tf"]))))
    assert any("frame: cube" in text.get_text() for text in unposed.texts)


def test_robots_are_selected_by_namespace(make_bag):
    bag = make_bag(Cube("/left"), Cube("/right", bodies=("pad",)))
    with raises(BagError, "--namespace", "/left", "/right"):
        recorded(bag)
    assert recorded(bag, namespace="right").touch.bodies == ("pad",)
    assert recorded(bag, namespace="/left").touch.bodies == ("cube",)
    with raises(BagError, "'lef'", "'/left'"):
        recorded(bag, namespace="lef")


def test_inconsistent_message_is_skipped(make_bag):
    making = Making(make_bag.folder("wrong"))
    frame = {"bodies": ["a"], "frame_ids": ["a"], "taxel_counts": [2], "unit": "N"}
    for time, channels in enumerate((3, 0, 4, 3)):
        value = frame | {"header": {"stamp": time * STEP}, "channels": channels, "data": np.ones(6)}
        making.put("/tactile/frame", "tactile_sim/TactileFrame", time * STEP, value)
    making.bag.close()
    touch = recorded(making.bag.folder).touch
    assert (len(touch.times), touch.left_out) == (2, 2)


def test_nan_and_infinity_are_drawn_as_zero(make_bag):
    making = Making(make_bag.folder("nan"))
    cube = Cube(count=LANDING + 5)
    cube.write(making)
    time = cube.count * STEP
    header = {"header": {"stamp": time, "frame_id": "world"}}
    frame = {"bodies": ["cube"], "frame_ids": ["cube"], "taxel_counts": [6 * GRID**2], "channels": 3}
    common = {"layout_id": LAYOUT, "quantity": "force_vector", "unit": "N"}
    data = np.tile([np.nan, np.inf, 1.0], 6 * GRID**2)
    value = header | frame | common | {"data": data}
    making.put("/tactile/frame", "tactile_sim/TactileFrame", time, value)
    contact = {"body1": "table", "body2": "cube", "wrench": {"force": [np.nan] * 3}}
    value = header | {"contacts": [contact]}
    making.put("/contacts", "tactile_sim/ContactWrenchArray", time, value)
    making.bag.close()
    recording = recorded(making.bag.folder)
    assert recording.touch.nets[-1] == pytest.approx([6 * GRID**2])
    for name in FIGURES:
        figure(name, recording).canvas.draw()


def test_map_has_the_size_and_the_colors_of_the_skin(fall):
    fig = figure("map", recorded(fall))
    image = fig.axes[0].images[0].get_array()
    bright = (image.max(axis=2) > 150).mean()
    assert 0.0 < bright < 0.5  # one of six faces is loaded
    assert "25 of 150" in fig.axes[0].get_title(loc="left")


def test_map_requires_layouts(make_bag):
    recording = recorded(make_bag(Cube(without=["/layout"])))
    with raises(MissingTopics, "tactile/BODY/layout"):
        figure("map", recording)

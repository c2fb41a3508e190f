"""Scenes and frames from bags; test_browser tests how the browser draws them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.falling_bag import COUNT, GRID, HALF, IMPACT, LANDING, STEP, TYPES, WEIGHT, Cube, Making

from tactile_sim import BagError, bag
from tactile_sim.common.signals import StopRequest
from tactile_sim.figures.arrows import NET, NORMAL
from tactile_sim.view.address import Endpoint
from tactile_sim.view.bag_frames import BagFrames
from tactile_sim.view.bag_index import LIMIT, BagIndex
from tactile_sim.view.bag_scene import read_scene
from tactile_sim.view.player import Player, force_series


@pytest.fixture
def make_bag(tmp_path):
    def make(*cubes):
        making = Making(tmp_path / "fall")
        for cube in cubes or (Cube(),):
            cube.write(making)
        making.bag.close()
        return making.bag.folder

    return make


def opened(path, namespace=None):
    index = BagIndex(path)
    content = read_scene(index, namespace)
    return content, BagFrames(index, content)


def test_scene_has_the_shapes_and_taxels_of_the_bag(make_bag):
    content, _ = opened(make_bag())
    scene = content.scene
    assert scene.bodies[0] == "world" and set(scene.bodies) == {"world", "cube", "table"}
    sizes = {shape.name: np.ptp(shape.vertices, axis=0) for shape in scene.shapes}
    assert sizes["cube"] == pytest.approx([2 * HALF] * 3)
    assert sizes["table"] == pytest.approx([1.0, 1.0, 0.02])
    assert scene.taxel_counts.tolist() == [6 * GRID**2]
    assert np.abs(scene.taxel_positions).max() == pytest.approx(HALF)
    assert content.notes == []


def test_impact_shows_three_weights(make_bag):
    content, frames = opened(make_bag())
    frame = frames.at(LANDING * STEP)
    assert frame.time == pytest.approx(LANDING * STEP / 1e9)
    assert frame.forces == pytest.approx(np.array([[0.0, 0.0, IMPACT]]))
    assert frame.readings.sum() == pytest.approx(IMPACT, rel=1e-5)
    assert (frame.readings[GRID**2 :] == 0.0).all()
    assert len(frame.contact_points) == 4
    kinds = frame.arrow_kinds.tolist()
    assert (kinds.count(NORMAL), kinds.count(NET)) == (4, 1)
    net = frame.arrows[kinds.index(NET)]
    assert net[1] - net[0] == pytest.approx([0.0, 0.0, 0.01 * IMPACT])


def test_force_on_a_body_without_contacts_is_the_sum_of_its_pads(make_bag):
    """The second pad has half of the load on the first one."""
    folder = make_bag(Cube(bodies=("cube", "back"), carrier="cube", without=("/contacts",)))
    content, frames = opened(folder)
    assert content.scene.pads == ("cube", "back") and len(set(content.scene.skin_bodies)) == 1
    assert frames.at(LANDING * STEP).forces == pytest.approx(np.array([[0.0, 0.0, 1.5 * IMPACT]] * 2))


def test_falling_cube_has_no_readings_and_the_pose_of_free_fall(make_bag):
    content, frames = opened(make_bag())
    frame = frames.at(5 * STEP)
    cube = content.scene.bodies.index("cube")
    assert frame.body_positions[cube, 2] == pytest.approx(HALF + 0.5 * 9.81 * (0.2**2 - 0.1**2))
    assert frame.body_quaternions[cube] == pytest.approx([1, 0, 0, 0])
    assert not frame.readings.any() and not len(frame.arrows) and not len(frame.contact_points)


def test_frame_is_the_same_after_seeking(make_bag):
    content, frames = opened(make_bag(Cube(count=300)))
    first = frames.at(20 * STEP)
    frames.at(290 * STEP)
    frames.at(0)
    again = frames.at(20 * STEP)
    assert (first.readings == again.readings).all() and first.readings.any()
    assert (first.body_positions == again.body_positions).all()


def test_logs_with_wall_time_do_not_extend_the_bag(make_bag, tmp_path):
    making = Making(tmp_path / "walls")
    making.put("/chatter", "std_msgs/String", 1_795_308_959 * 10**9, {"data": "ready"})
    Cube().write(making)
    making.bag.close()
    _, plain = opened(make_bag())
    index = BagIndex(making.bag.folder)
    assert (index.start, index.stop) == (0, (COUNT - 1) * STEP)
    frames = BagFrames(index, read_scene(index))
    for step in (30, 5):
        actual, expected = frames.at(step * STEP), plain.at(step * STEP)
        assert (actual.body_positions == expected.body_positions).all()
        assert (actual.readings == expected.readings).all()


def test_body_arrays_give_the_readings_of_the_whole_frame(make_bag, tmp_path):
    cube = Cube(bodies=("cube", "brick"))
    _, whole = opened(make_bag(cube))
    making = Making(tmp_path / "arrays")
    cube.without = ("/tactile/frame",)
    cube.write(making)
    making.bag.close()
    _, parts = opened(making.bag.folder)
    assert parts.at(30 * STEP).readings == pytest.approx(whole.at(30 * STEP).readings)


def test_scale_is_round_and_above_most_readings(make_bag):
    content, _ = opened(make_bag(Cube(count=500)))
    assert WEIGHT / GRID**2 < content.scene.taxel_scale == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("without", "named", "shapes", "taxels"),
    [
        (("layout",), "layouts", True, 0),
        (("/scene_markers",), "scene_markers", False, 6 * GRID**2),
        (("/tf",), "/tf", False, 6 * GRID**2),
    ],
)
def test_missing_topics_are_noted_and_the_rest_is_shown(make_bag, without, named, shapes, taxels):
    content, frames = opened(make_bag(Cube(without=without)))
    assert [named in note for note in content.notes] == [True]
    assert ("cube" in {shape.name for shape in content.scene.shapes}) is shapes
    assert len(content.scene.taxel_positions) == taxels
    assert frames.at(LANDING * STEP).forces == pytest.approx(
        np.array([[0.0, 0.0, IMPACT]]) if taxels else np.zeros((0, 3))
    )


@pytest.mark.parametrize("array", ["positions", "normals", "spacing"])
def test_pad_whose_layout_is_not_finite_is_named_and_left_out(tmp_path, array):
    class Spoiling(Making):
        def put(self, topic, type_name, time, value):
            if topic == "/tactile/back/layout":
                spoilt = np.array(value[array], float)
                spoilt.flat[-1] = np.nan
                value = value | {array: spoilt}
            super().put(topic, type_name, time, value)

    making = Spoiling(tmp_path / "fall")
    Cube(bodies=("cube", "back"), carrier="cube", without=("/contacts",)).write(making)
    making.bag.close()
    content, frames = opened(making.bag.folder)
    assert ["'back'" in note and array in note for note in content.notes] == [True]
    assert content.scene.pads == ("cube",) and np.isfinite(content.scene.taxel_positions).all()
    assert frames.at(LANDING * STEP).forces == pytest.approx(np.array([[0.0, 0.0, IMPACT]]))


@pytest.mark.parametrize(
    ("orientation", "color", "shown"),
    [
        ({"w": 0.0}, 0.5, True),  # a default that RViz reads as no rotation
        ({"w": math.nan}, 0.5, False),
        ({"w": 1.0}, math.nan, False),
    ],
)
def test_markers_that_are_not_finite_are_named_and_left_out(tmp_path, orientation, color, shown):
    class Spoiling(Making):
        def put(self, topic, type_name, time, value):
            if topic == "/scene_markers":
                first = value["markers"][0]
                first["pose"]["orientation"], first["color"] = orientation, [color] * 4
            super().put(topic, type_name, time, value)

    making = Spoiling(tmp_path / "fall")
    Cube(count=3).write(making)
    making.bag.close()
    content, _ = opened(making.bag.folder)
    assert ("cube" in {shape.name for shape in content.scene.shapes}) is shown
    assert ["cube" in note for note in content.notes] == [True] * (not shown)


def test_damaged_bag_plays_up_to_the_damage(make_bag):
    path = make_bag(Cube(count=3000))
    file = next(path.glob("*.mcap"))
    whole = BagIndex(path).stop
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    index = BagIndex(path)
    content = read_scene(index)
    assert [file.name in note for note in content.notes] == [True]
    assert 0 < index.stop < whole
    assert BagFrames(index, content).at(index.stop).forces == pytest.approx(np.array([[0.0, 0.0, WEIGHT]]))


def test_one_of_several_robots_is_shown_and_the_others_are_named(make_bag):
    path = make_bag(Cube(namespace="/left", count=3), Cube(namespace="/right", count=3))
    index = BagIndex(path)
    [note] = read_scene(index).notes
    assert "/right" in note
    assert read_scene(index, "right").robot.namespace == "/right"
    with pytest.raises(BagError, match="'middle'"):
        read_scene(index, "middle")


def test_bag_without_content_is_an_error(tmp_path):
    making = Making(tmp_path / "words")
    making.put("/chatter", "std_msgs/String", 0, {"data": "hello"})
    making.bag.close()
    with pytest.raises(BagError, match=making.bag.folder.name):
        read_scene(BagIndex(making.bag.folder))


@pytest.mark.parametrize("without", [("/contacts",), ("/contacts", "/tactile/frame")])
def test_force_series_sums_the_pads_of_each_body(make_bag, without):
    """The second pad has half of the load on the first one."""
    index = BagIndex(make_bag(Cube(bodies=("cube", "back"), carrier="cube", without=without)))
    series = force_series(index, read_scene(index))
    assert series.times.tolist() == [STEP * k for k in range(COUNT)] and series.is_force
    expected = [[1.5 * Cube.force(k)] for k in range(COUNT)]
    assert series.values == pytest.approx(np.array(expected), rel=1e-5)


def test_force_series_of_a_long_bag_is_thinned_evenly(make_bag):
    index = BagIndex(make_bag(Cube(count=1200, without=("/tf", "/tactile"))))
    samples = index.samples["/contacts"]
    assert LIMIT / 2 <= len(samples.times) < LIMIT and samples.times[-1] > 1195 * STEP
    assert np.unique(np.diff(samples.times)).tolist() == [4 * STEP]
    forces = np.linalg.norm(samples.at("cube", samples.times)[:, :3], axis=1)
    assert forces == pytest.approx(np.array([Cube.force(t // STEP) for t in samples.times]), rel=1e-5)


@pytest.mark.parametrize("cube", [Cube(count=3), Cube(without=("/tactile/frame", "/array", "/contacts"))])
def test_bag_without_loads_has_no_force_series(make_bag, cube):
    path = make_bag(cube)
    index = BagIndex(path)
    assert force_series(index, read_scene(index)) is None
    Player(path, Endpoint(port=0)).close()


@pytest.fixture
def player(make_bag):
    player = Player(make_bag(), Endpoint(port=0))
    yield player
    player.close()


def test_bag_does_not_play_without_browsers(player):
    player.play(StopRequest(), duration=0.2)
    assert player.bar.time == 0.0
    assert player.viewer.server.scene.get_handle_by_name("/cube").position[2] == pytest.approx(
        HALF + 0.5 * 9.81 * 0.2**2
    )


def test_playback_stops_at_the_end(player):
    player.bar.speed = 2.0
    assert player.bar.advance(0.25) and player.bar.playing
    assert player.bar.time == pytest.approx(0.5e9)
    assert player.bar.advance(math.inf) and not player.bar.playing
    assert player.bar.time == 1e9
    assert not player.bar.advance(1.0)


@pytest.mark.parametrize("without", [(), ("frame",)])
def test_bags_from_before_pads_show_the_readings_of_bodies(make_bag, monkeypatch, without):
    newer = ("pad ", "pads ", "ids ", "orientations ", "rows ", "columns ", "valid ")
    for name in ("TactileArray", "TactileFrame", "TactileLayout"):
        lines = TYPES[f"tactile_sim/{name}"].splitlines()
        kept = [
            line for line in lines if line.startswith("#") or not line.partition(" ")[2].startswith(newer)
        ]
        assert len(kept) < len(lines)
        monkeypatch.setitem(TYPES, f"tactile_sim/{name}", "\n".join(kept))
    path = make_bag(Cube(without=without))
    content, frames = opened(path)
    assert content.pads == content.pad_bodies == ("cube",)
    shown = frames.at(LANDING * STEP)
    assert shown.readings.sum() == pytest.approx(IMPACT)
    found = bag.read(path)
    assert found["/tactile/cube/layout"].positions.shape == (1, 6 * GRID**2, 3)

"""Bags as worlds and moments; how they look is for test_browser."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from falling import COUNT, GRID, HALF, IMPACT, LANDING, STEP, WEIGHT, Cube, Making
from scipy.spatial.transform import Rotation

from tactile_sim import BagError
from tactile_sim.drawing.arrows import NET, NORMAL
from tactile_sim.signals import StopRequest
from tactile_sim.view.address import Endpoint
from tactile_sim.view.bag_index import BagIndex
from tactile_sim.view.bag_moments import BagMoments
from tactile_sim.view.bag_points import PointBodies
from tactile_sim.view.bag_world import see
from tactile_sim.view.player import Player


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
    seen = see(index, namespace)
    return seen, BagMoments(index, seen)


def test_the_world_of_a_bag_has_its_shapes_and_taxels(make_bag):
    seen, _ = opened(make_bag())
    world = seen.world
    assert world.bodies[0] == "world" and set(world.bodies) == {"world", "cube", "table"}
    sizes = {shape.name: np.ptp(shape.vertices, axis=0) for shape in world.shapes}
    assert sizes["cube"] == pytest.approx([2 * HALF] * 3)
    assert sizes["table"] == pytest.approx([1.0, 1.0, 0.02])
    assert world.taxel_counts.tolist() == [6 * GRID**2]
    assert np.abs(world.taxel_positions).max() == pytest.approx(HALF)
    assert seen.remarks == []


def test_as_it_lands_the_skin_feels_three_weights(make_bag):
    seen, moments = opened(make_bag())
    moment = moments.at(LANDING * STEP)
    assert moment.time == pytest.approx(LANDING * STEP / 1e9)
    assert moment.forces == pytest.approx(np.array([[0.0, 0.0, IMPACT]]))
    assert moment.taxels.sum() == pytest.approx(IMPACT, rel=1e-5)
    assert (moment.taxels[GRID**2 :] == 0.0).all()
    assert len(moment.contacts) == 4
    kinds = moment.arrow_kinds.tolist()
    assert (kinds.count(NORMAL), kinds.count(NET)) == (4, 1)
    net = moment.arrows[kinds.index(NET)]
    assert net[1] - net[0] == pytest.approx([0.0, 0.0, 0.01 * IMPACT])


def test_in_the_air_it_feels_nothing_and_is_where_it_falls(make_bag):
    seen, moments = opened(make_bag())
    moment = moments.at(5 * STEP)
    cube = seen.world.bodies.index("cube")
    assert moment.body_positions[cube, 2] == pytest.approx(HALF + 0.5 * 9.81 * (0.2**2 - 0.1**2))
    assert moment.body_quaternions[cube] == pytest.approx([1, 0, 0, 0])
    assert not moment.taxels.any() and not len(moment.arrows) and not len(moment.contacts)


def test_after_a_jump_to_and_fro_an_instant_is_the_same(make_bag):
    seen, moments = opened(make_bag(Cube(count=300)))
    first = moments.at(20 * STEP)
    moments.at(290 * STEP)
    moments.at(0)
    again = moments.at(20 * STEP)
    assert (first.taxels == again.taxels).all() and first.taxels.any()
    assert (first.body_positions == again.body_positions).all()


def test_logs_with_times_of_the_wall_neither_stretch_the_bag_nor_stop_it(make_bag, tmp_path):
    making = Making(tmp_path / "walls")
    making.put("/chatter", "std_msgs/String", 1_795_308_959 * 10**9, {"data": "ready"})
    Cube().write(making)
    making.bag.close()
    _, plain = opened(make_bag())
    index = BagIndex(making.bag.folder)
    assert (index.start, index.stop) == (0, (COUNT - 1) * STEP)
    moments = BagMoments(index, see(index))
    for instant in (30, 5):
        there, expected = moments.at(instant * STEP), plain.at(instant * STEP)
        assert (there.body_positions == expected.body_positions).all()
        assert (there.taxels == expected.taxels).all()


def test_arrays_of_bodies_show_what_the_whole_frame_shows(make_bag, tmp_path):
    cube = Cube(bodies=("cube", "brick"))
    _, whole = opened(make_bag(cube))
    making = Making(tmp_path / "arrays")
    cube.without = ("/tactile/frame",)
    cube.write(making)
    making.bag.close()
    _, parts = opened(making.bag.folder)
    assert parts.at(30 * STEP).taxels == pytest.approx(whole.at(30 * STEP).taxels)


def test_the_scale_ends_above_what_is_felt_mostly_and_is_round(make_bag):
    seen, _ = opened(make_bag(Cube(count=500)))
    assert WEIGHT / GRID**2 < seen.world.taxel_scale == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("without", "said", "shapes", "taxels"),
    [
        (("layout",), "no layouts in the bag", True, 0),
        (("/scene_markers",), "no scene_markers in the bag", False, 6 * GRID**2),
        (("/tf",), "no /tf in the bag", False, 6 * GRID**2),
    ],
)
def test_what_a_bag_lacks_is_said_and_the_rest_is_shown(make_bag, without, said, shapes, taxels):
    seen, moments = opened(make_bag(Cube(without=without)))
    assert [said in remark for remark in seen.remarks] == [True]
    assert ("cube" in {shape.name for shape in seen.world.shapes}) is shapes
    assert len(seen.world.taxel_positions) == taxels
    assert moments.at(LANDING * STEP).forces == pytest.approx(
        np.array([[0.0, 0.0, IMPACT]]) if taxels else np.zeros((0, 3))
    )


def test_a_damaged_bag_is_played_as_far_as_it_goes(make_bag):
    path = make_bag(Cube(count=3000))
    file = next(path.glob("*.mcap"))
    whole = BagIndex(path).stop
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    index = BagIndex(path)
    seen = see(index)
    assert [("damaged" in remark, file.name in remark) for remark in seen.remarks] == [(True, True)]
    assert 0 < index.stop < whole
    assert BagMoments(index, seen).at(index.stop).forces == pytest.approx(np.array([[0.0, 0.0, WEIGHT]]))


def test_of_several_robots_one_is_shown_and_the_others_are_named(make_bag):
    path = make_bag(Cube(namespace="/left", count=3), Cube(namespace="/right", count=3))
    index = BagIndex(path)
    assert see(index).remarks == ["/left is shown; also in the bag: /right"]
    assert see(index, "right").robot.namespace == "/right"
    with pytest.raises(BagError, match="has no namespace 'middle'"):
        see(index, "middle")


def test_a_bag_with_nothing_to_show_is_refused(tmp_path):
    making = Making(tmp_path / "words")
    making.put("/chatter", "std_msgs/String", 0, {"data": "hello"})
    making.bag.close()
    with pytest.raises(BagError, match="nothing in this bag can be shown"):
        see(BagIndex(making.bag.folder))


def cloud(positions, bodies, intensity):
    kind = np.dtype([(name, "<f4") for name in ("x", "y", "z", "intensity")] + [("body", "<u2")])
    points = np.zeros(len(positions), kind)
    points["x"], points["y"], points["z"] = positions.T
    points["body"], points["intensity"] = bodies, intensity
    fields = SimpleNamespace(
        name=list(kind.names),
        datatype=np.array([7, 7, 7, 7, 4]),
        offset=np.array([kind.fields[name][1] for name in kind.names]),
    )
    return SimpleNamespace(fields=fields, point_step=kind.itemsize, data=points.view(np.uint8))


def test_points_in_the_world_tell_how_bodies_moved():
    grid = np.stack(np.meshgrid(*[np.linspace(-0.1, 0.1, 3)] * 3), -1).reshape(-1, 3)
    bodies = np.repeat([7, 3], len(grid))
    turn, way = Rotation.from_rotvec([0.3, -0.5, 0.8]), np.array([1.0, 2.0, 3.0])
    first = cloud(np.concatenate([grid, grid + 1.0]), bodies, 0.0)
    later = cloud(np.concatenate([turn.apply(grid) + way, grid + 1.0]), bodies, np.arange(54))
    points = PointBodies(first)
    assert points.numbers.tolist() == [3, 7]
    assert points.spacings == pytest.approx([0.1, 0.1], rel=1e-5)
    intensities, middles, quaternions = points.read(later)
    assert intensities.tolist() == [*range(27, 54), *range(27)]
    assert middles == pytest.approx(np.array([[1.0, 1.0, 1.0], way]), abs=1e-6)
    assert quaternions[0] == pytest.approx([1, 0, 0, 0], abs=1e-6)
    assert Rotation.from_quat(quaternions[1], scalar_first=True).as_matrix() == pytest.approx(
        turn.as_matrix(), abs=1e-5
    )


@pytest.fixture
def player(make_bag):
    player = Player(make_bag(), Endpoint(port=0))
    yield player
    player.close()


def test_a_bag_waits_for_who_wants_to_see_it(player):
    player.play(StopRequest(), duration=0.2)
    assert player.bar.time == 0.0
    assert player.viewer.server.scene.get_handle_by_name("/cube").position[2] == pytest.approx(
        HALF + 0.5 * 9.81 * 0.2**2
    )


def test_at_its_end_it_stops(player):
    player.bar.speed = 2.0
    assert player.bar.go_on(0.25) and player.bar.playing
    assert player.bar.time == pytest.approx(0.5e9)
    assert player.bar.go_on(math.inf) and not player.bar.playing
    assert player.bar.time == 1e9
    assert not player.bar.go_on(1.0)

"""Skins from the point clouds of bags without layouts."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.falling_bag import STEP, Cube, Making

from tactile_sim.view.bag_frames import BagFrames
from tactile_sim.view.bag_index import BagIndex
from tactile_sim.view.bag_scene import PointBodies, read_scene
from tactile_sim.view.replay import write_bag_replay

CORNERS = np.stack(np.meshgrid(*[np.linspace(-0.1, 0.1, 3)] * 3), -1).reshape(-1, 3)
KIND = np.dtype([(name, "<f4") for name in ("x", "y", "z", "intensity")] + [("body", "<u2")])
DATATYPES = [7, 7, 7, 7, 4]


def records(positions, bodies, intensity):
    points = np.zeros(len(positions), KIND)
    points["x"], points["y"], points["z"] = positions.T
    points["body"], points["intensity"] = bodies, intensity
    return points


def cloud(positions, bodies, intensity):
    fields = SimpleNamespace(
        name=list(KIND.names),
        datatype=np.array(DATATYPES),
        offset=np.array([KIND.fields[name][1] for name in KIND.names]),
    )
    data = records(positions, bodies, intensity).view(np.uint8)
    return SimpleNamespace(fields=fields, point_step=KIND.itemsize, data=data)


def write_bag(folder, *clouds, fields=KIND.names):
    """Write a bag of clouds without layouts. Clouds are arrays of records with these field names."""
    making = Making(folder)
    Cube(count=len(clouds), without=("layout",)).write(making)
    for index, points in enumerate(clouds):
        value = {
            "header": {"stamp": index * STEP, "frame_id": "world"},
            "fields": [
                {"name": name, "offset": KIND.fields[real][1], "datatype": datatype, "count": 1}
                for name, real, datatype in zip(fields, KIND.names, DATATYPES, strict=True)
            ],
            "point_step": KIND.itemsize,
            "data": points.view(np.uint8),
        }
        making.put("/tactile/points", "sensor_msgs/PointCloud2", index * STEP, value)
    making.bag.close()
    return making.bag.folder


def two_bodies(intensity=1.0):
    """Return the points of body 3 and, 1 m along each axis, of body 7."""
    return records(np.concatenate([CORNERS, CORNERS + 1.0]), np.repeat([3, 7], len(CORNERS)), intensity)


def opened(folder):
    index = BagIndex(folder)
    content = read_scene(index)
    return content, BagFrames(index, content)


def test_body_poses_are_recovered_from_points():
    bodies = np.repeat([7, 3], len(CORNERS))
    rotation, translation = Rotation.from_rotvec([0.3, -0.5, 0.8]), np.array([1.0, 2.0, 3.0])
    first = cloud(np.concatenate([CORNERS, CORNERS + 1.0]), bodies, 0.0)
    later = cloud(
        np.concatenate([rotation.apply(CORNERS) + translation, CORNERS + 1.0]), bodies, np.arange(54)
    )
    points = PointBodies(first)
    assert points.numbers.tolist() == [3, 7]
    assert points.spacings == pytest.approx([0.1, 0.1], rel=1e-5)
    intensities, centers, quaternions = points.read(later)
    assert intensities.tolist() == [*range(27, 54), *range(27)]
    assert centers == pytest.approx(np.array([[1.0, 1.0, 1.0], translation]), abs=1e-6)
    assert quaternions[0] == pytest.approx([1, 0, 0, 0], abs=1e-6)
    assert Rotation.from_quat(quaternions[1], scalar_first=True).as_matrix() == pytest.approx(
        rotation.as_matrix(), abs=1e-5
    )


def test_body_with_points_that_are_not_finite_is_named_and_left_out(tmp_path):
    first, second = two_bodies(), two_bodies(2.0)
    for points in (first, second):
        points["y"][4] = np.nan
    folder = write_bag(tmp_path / "bag", first, second)
    content, frames = opened(folder)
    assert len([note for note in content.notes if "body 3" in note]) == 1
    assert content.scene.taxel_counts.tolist() == [len(CORNERS)]
    frame = frames.at(STEP)
    assert frame.body_positions[-1] == pytest.approx([1.0, 1.0, 1.0], abs=1e-6)
    assert frame.readings.tolist() == [2.0] * len(CORNERS)
    summary = write_bag_replay(folder, tmp_path / "replay.html")
    assert any("body 3" in note for note in summary.notes)


def test_later_cloud_that_is_not_finite_is_replaced_by_the_first(tmp_path):
    later = two_bodies(2.0)
    later["x"][0] = np.inf
    content, frames = opened(write_bag(tmp_path / "bag", two_bodies(), later, two_bodies(3.0)))
    assert not any("body" in note for note in content.notes)
    assert [frames.at(k * STEP).readings[0] for k in range(3)] == [1.0, 1.0, 3.0]
    assert np.isfinite(frames.at(STEP).body_positions).all()


@pytest.mark.parametrize(
    ("points", "fields"),
    [
        (two_bodies(np.nan)[:0], KIND.names),
        (two_bodies(), ("x", "y", "z", "rgb", "body")),
        (two_bodies(), ("x", "y", "z", "intensity", "x")),
        (records(CORNERS * np.nan, 3, 1.0), KIND.names),
    ],
)
def test_cloud_without_usable_points_is_noted(tmp_path, points, fields):
    content, frames = opened(write_bag(tmp_path / "bag", points, fields=fields))
    assert any("tactile/points" in note for note in content.notes)
    assert not len(content.scene.taxel_positions) and not len(frames.at(0).readings)

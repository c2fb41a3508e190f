"""Feelers in a simulation: a fall, tactile images, settings and limits."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image
from support.errors import raises
from support.falling_cube import GRAVITY, HALF, HEIGHT, LENGTH, mjcf

from tactile_sim import config
from tactile_sim.common.errors import TactileSimError
from tactile_sim.feelers import place
from tactile_sim.figures.images import tactile_images
from tactile_sim.simulation import Simulation

TIMESTEP = 0.001
"""Time step [s]."""
SCENE = mjcf(TIMESTEP)


def simulation(folder: Path, scene: str = SCENE, **keys) -> Simulation:
    """Return a simulation of a scene with the specified configuration keys."""
    (folder / "scene.xml").write_text(scene)
    return Simulation(config.from_mapping({"scene": "scene.xml", **keys}, folder, "my.yaml"))


@pytest.fixture
def falling(tmp_path) -> Simulation:
    """Return a simulation of a cube with feelers of 50 mm on all sides, 200 mm above the floor."""
    return simulation(
        tmp_path,
        skin={"scales": {"cube": 0.02}},
        feelers={"cube": {"spacing": 0.02, "length": LENGTH}},
    )


def bottom(falling: Simulation) -> np.ndarray:
    """Return a mask (f,) of the feelers that point down."""
    return falling.feelers.normals[:, 2] < -0.99


def test_feelers_of_a_falling_cube_react_before_its_skin(falling):
    feeler_time = skin_time = math.inf
    while skin_time == math.inf and falling.time < 1.0:
        snapshot = falling.observe()
        if (snapshot.feelers < LENGTH).any():
            feeler_time = min(feeler_time, falling.time)
        if np.abs(snapshot.readings).max() > 0:
            skin_time = falling.time
        falling.step()
    # Free fall: the feelers reach the floor at a height of their length, the skin at a height of 0.
    assert feeler_time == pytest.approx(math.sqrt(2 * (HEIGHT - LENGTH) / GRAVITY), abs=2 * TIMESTEP)
    assert skin_time == pytest.approx(math.sqrt(2 * HEIGHT / GRAVITY), abs=2 * TIMESTEP)


def test_feelers_of_a_falling_cube_read_its_height(falling):
    below = bottom(falling)
    assert below.sum() > 20
    while falling.engine.data.qpos[2] - HALF > 0.005:
        height = falling.engine.data.qpos[2] - HALF
        free = falling.observe().feelers
        assert free[below] == pytest.approx(np.full(below.sum(), min(height, LENGTH)), abs=1e-6)
        assert (free[falling.feelers.normals[:, 2] > -1e-9] == LENGTH).all()
        falling.step()


def test_image_of_a_falling_cube_turns_from_black_to_white(falling):
    [tactile_image] = [image for image in tactile_images(falling) if image.name == "cube/image"]
    assert tactile_image.encoding == "mono8"
    assert not tactile_image.make(falling.observe()).any()
    while falling.engine.data.qpos[2] - HALF > 0.4 * LENGTH:
        falling.step(1)
    gray = tactile_image.make(falling.observe())
    covered = 1 - (falling.engine.data.qpos[2] - HALF) / LENGTH
    assert np.count_nonzero(gray) == bottom(falling).sum()
    assert np.abs(gray[gray > 0] - 255 * covered).max() <= 1
    falling.step(2000)
    white = tactile_image.make(falling.observe())
    assert np.count_nonzero(white == 255) == bottom(falling).sum()
    [placed] = [body.placed for body in falling.feelers.bodies]
    # Each feeler is shown by its own pixel.
    assert (white.ravel()[placed.pixels] == np.where(bottom(falling), 255, 0)).all()


def test_force_image_changes_at_the_lower_face(falling):
    images = tactile_images(falling)
    by_name = {image.name: image for image in images}
    assert set(by_name) == {"cube/image", "cube/force_image"}
    assert [image.name for image in images] == list(by_name)  # it can be iterated again
    free = by_name["cube/force_image"].make(falling.observe())
    falling.step(2000)
    loaded = by_name["cube/force_image"].make(falling.observe())
    assert free.shape == loaded.shape and free.shape[2] == 3
    changed = (free != loaded).any(axis=2)
    # The floor touches one of six faces. Taxels on its edges belong to two faces, so they also color the
    # pixels within half a spacing on the sides: one row on each of four sides, as a pixel is half a spacing.
    face = (free != free[0, 0]).any(axis=2).sum() / 6
    assert changed.sum() == face + 4 * np.sqrt(face)


TWO_MAPS = """
<mujoco>
  <asset>
    <mesh name="tile" inertia="shell" vertex="0 0 0 .1 0 0 .1 .1 0 0 .1 0" face="0 1 2 0 2 3"
      texcoord="0 1 1 1 1 0 0 0"/>
  </asset>
  <worldbody>
    <geom name="ceiling" type="box" size="1 1 .1" pos="0 0 1.12"/>
    <body name="paw" pos="0 0 1">
      <geom name="left pad" type="mesh" mesh="tile" contype="0" conaffinity="0"/>
      <geom name="right" type="mesh" mesh="tile" pos=".2 0 .01" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_maps_of_several_geoms_are_separate_images_and_one_stacked_image(tmp_path):
    Image.fromarray(np.full((4, 6), 255, np.uint8)).save(tmp_path / "left pad.png")
    Image.fromarray(np.full((2, 3), 255, np.uint8)).save(tmp_path / "right.png")
    paw = simulation(
        tmp_path, TWO_MAPS, contacts="all", feelers={"paw": {"image": "{geom}.png", "length": 0.05}}
    )
    made = {image.name: image.make(paw.observe()) for image in tactile_images(paw)}
    assert set(made) == {"paw/image", "paw/left_pad/image", "paw/right/image"}
    # The ceiling is 20 mm above one tile and 10 mm above the other, so 60 and 80 % of the lengths are
    # covered.
    assert (made["paw/left_pad/image"] == np.full((4, 6), 153)).all()
    assert (made["paw/right/image"] == np.full((2, 3), 204)).all()
    whole = made["paw/image"]
    assert whole.shape == (6, 6)
    assert (whole[:4] == 153).all() and (whole[4:, :3] == 204).all() and not whole[4:, 3:].any()
    [body] = paw.feelers.bodies
    free = paw.observe().feelers
    assert whole.ravel()[body.placed.pixels] == pytest.approx(255 * (1 - free / 0.05), abs=0.5)


def test_body_with_only_a_skin_has_a_force_image(tmp_path):
    alone = simulation(tmp_path, skin={"scales": {"cube": 0.02}})
    assert [(image.name, image.encoding) for image in tactile_images(alone)] == [("cube/image", "rgb8")]


def test_feelers_do_not_require_a_skin(tmp_path):
    alone = simulation(tmp_path, feelers={"cu*": {"spacing": 0.05, "length": 0.1}})
    assert len(alone.observe().feelers) == len(alone.feelers.positions) > 0
    assert len(alone.observe().readings) == 0
    assert [image.name for image in tactile_images(alone)] == ["cube/image"]


def test_names_of_images_are_unique():
    worm = Simulation("worm")
    bodies = ("worm_lower", "worm_upper")
    names = [image.name for image in tactile_images(worm)]
    assert names == [f"{body}/{kind}" for kind in ("image", "force_image") for body in bodies]


@pytest.mark.parametrize(
    ("entry", "fact"),
    [
        ({"image": "none.png"}, "none.png"),
        ({"spacing": 1e-5}, "1e-05"),
        ({"image": "package://no_such_package/a.png"}, "'no_such_package'"),
        ({"image": "skin_{body}.png"}, "{geom}"),
        ({"image": "a" * 300 + ".png"}, "a" * 50),
        ({"image": "a\0b.png"}, r"a\x00b.png"),
        ({"image": "a\nb.png"}, repr("a\nb.png")),
        ({"spacing": 0.02, "length": 1e300}, "1e+300"),
    ],
)
def test_invalid_feelers_are_rejected_by_key_and_file(tmp_path, entry, fact):
    with raises(TactileSimError, fact) as refused:
        simulation(tmp_path, feelers={"cube": entry})
    assert str(refused.value).startswith("my.yaml: feelers.cube")
    assert str(refused.value).isprintable()


def test_white_only_of_the_configuration_is_applied(tmp_path):
    image = np.full((30, 40, 3), [255, 0, 0], np.uint8)
    image[10:20, ::2] = 255  # every second column of the four faces in the middle
    Image.fromarray(image).save(tmp_path / "faces.png")
    counts = [
        len(simulation(tmp_path, feelers={"cube": {"image": "faces.png", **keys}}).feelers.lengths)
        for keys in ({}, {"white_only": True}, {"white_only": False})
    ]
    assert counts == [200, 200, 600]


def white(folder: Path, side: int) -> str:
    Image.new("1", (side, side), 1).save(folder / "white.png")
    return "white.png"


def test_image_with_too_many_feelers_is_rejected(tmp_path):
    # The cross covers half of the image of a cube.
    with raises(TactileSimError, "feelers.cube", "1500 x 1500", "1,000,000"):
        simulation(tmp_path, feelers={"cube": {"image": white(tmp_path, 1500)}})


@pytest.mark.parametrize("second", [{"spacing": 0.0007}, {"image": "white.png"}])
def test_limit_on_feelers_applies_to_all_bodies_together(tmp_path, second):
    scene = SCENE.replace(
        "</worldbody>", '<body name="other" pos="1 0 1"><geom type="box" size=".1 .1 .1"/></body></worldbody>'
    )
    # Each body alone is within the limit: 1024² / 2 = 524,288.
    feelers = {"cube": {"image": white(tmp_path, 1024)}, "other": second}
    with raises(TactileSimError, "feelers.other", "475,", "1,000,000"):
        simulation(tmp_path, scene, feelers=feelers)


def test_white_outside_the_map_does_not_count_as_feelers(tmp_path):
    # 1200² = 1.44 million white pixels, half of which are on the cross of a cube.
    placed = place(mujoco.MjModel.from_xml_string(SCENE), 1, image=np.ones((1200, 1200), bool))
    assert len(placed.positions) == 1200**2 // 2
    assert (np.diff(placed.pixels.astype(int)) > 0).all()


def test_bodies_of_the_same_shape_have_the_same_feelers(tmp_path):
    ball = '<geom type="sphere" size=".05" pos="{} 0 0"/>'
    bodies = "".join(f'<body name="ball{k}" pos="{k} 0 1">{ball.format(k / 10)}</body>' for k in range(3))
    scene = f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"
    feelers = simulation(
        tmp_path, scene, contacts="all", feelers={"ball*": {"spacing": 0.01, "length": 0.02}}
    ).feelers
    first, *others = (feelers.positions[body.start : body.stop] for body in feelers.bodies)
    for k, positions in enumerate(others, 1):
        assert positions == pytest.approx(first + [k / 10, 0, 0], abs=1e-12)


def test_bodies_with_the_same_feeler_topic_are_rejected(tmp_path):
    scene = SCENE.replace(
        "</worldbody>", '<body name="cu.be" pos="1 0 1"><geom size="0.1"/></body>'
        '<body name="cu-be" pos="2 0 1"><geom size="0.1"/></body></worldbody>',
    )  # fmt: skip
    with raises(TactileSimError, "'tactile/cu_be'"):
        simulation(tmp_path, scene, skin={"scales": {"cu.be": 0.02}}, feelers={"cu-be": {"spacing": 0.02}})


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_feelers_read_the_height_with_both_engines(tmp_path, engine):
    if engine == "motrix":
        pytest.importorskip("motrixsim", reason="motrixsim is not installed: pip install 'motrixsim<0.11'")
    moved = simulation(tmp_path, engine=engine, contacts="all", feelers={"cube": {"spacing": 0.02}})
    moved.step(100)
    height = moved.engine.body_positions[1, 2] - HALF if moved.observe() else None
    below = bottom(moved)
    assert moved.observe().feelers[below] == pytest.approx(np.full(below.sum(), min(height, 0.1)), abs=1e-6)

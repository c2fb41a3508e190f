import mujoco
import pytest

from tactile_sim import ConfigError, config
from tactile_sim.names import Names

MODEL = mujoco.MjModel.from_xml_string("""
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="palm"><geom type="box" size=".05 .05 .05"/></body>
    <body name="finger_1"><geom type="box" size=".05 .05 .05"/></body>
    <body name="finger_2"><geom type="box" size=".05 .05 .05"/></body>
    <body name="left.palm"><geom type="box" size=".05 .05 .05"/></body>
    <body name="left_palm"><geom type="box" size=".05 .05 .05"/></body>
    <body name="ghost"><geom type="sphere" size=".05" contype="0" conaffinity="0"/></body>
    <body name="bare"/>
    <body><geom type="box" size=".05 .05 .05"/></body>
  </worldbody>
</mujoco>""")
NAMES = Names(MODEL)


def resolve(scales, **keys):
    settings = config.from_mapping({"scene": "a.xml", "skin": {"scales": scales}, **keys}, None, "my.yaml")
    spacings = config.resolve_scales(settings, MODEL, NAMES)
    assert list(spacings) == sorted(spacings)
    return {NAMES.bodies[body]: spacing for body, spacing in spacings.items()}


def test_a_name_gives_one_body_a_skin():
    assert resolve({"palm": 0.02}) == {"palm": 0.02}


def test_an_unnamed_body_goes_by_its_id():
    assert resolve({"body8": 0.02}) == {"body8": 0.02}


def test_a_pattern_gives_all_that_match_a_skin_and_an_exact_name_wins():
    assert resolve({"finger_*": 0.01, "finger_1": 0.02}) == {"finger_1": 0.02, "finger_2": 0.01}


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_patterns_the_narrower_wins_whatever_their_order(order):
    scales = dict([("f*", 0.05), ("finger_?", 0.01)][::order])
    assert resolve(scales) == {"finger_1": 0.01, "finger_2": 0.01}


def test_a_pattern_means_neither_the_world_nor_bodies_that_cannot_collide():
    assert set(resolve({"[!l]*": 0.05})) == {"palm", "finger_1", "finger_2", "body8"}


def test_without_a_skin_all_contacts_can_still_be_asked_for():
    assert resolve({}, contacts="all") == {}


@pytest.mark.parametrize(
    ("scales", "facts"),
    [
        ({"plam": 0.02}, ("skin.scales.plam", "'palm'")),
        ({"thumb_*": 0.02}, ("skin.scales.thumb_*", "body8")),
        ({"Finger_*": 0.02}, ("'Finger_*'", "'finger_2'")),
        ({"ghost": 0.02}, ("skin.scales.ghost", "collides")),
        ({"bare": 0.02}, ("skin.scales.bare", "collides")),
        ({"gh*": 0.02}, ("skin.scales.gh*", "collides")),
        ({"[gb][ha]*": 0.02, "palm": 0.02}, ("skin.scales.[gb][ha]*", "2", "collides")),
        ({}, ("skin.scales", "palm")),
        ({"left.palm": 0.02, "left_palm": 0.02}, ("'left.palm'", "'left_palm'", "tactile/left_palm")),
        ({"finger_*": 0.02, "*inger_1": 0.01}, ("'*inger_1'", "'finger_*'", "'finger_1'")),
    ],
)  # fmt: skip
def test_scales_that_do_not_fit_the_scene_are_rejected(scales, facts):
    with pytest.raises(ConfigError) as error:
        resolve(scales)
    assert str(error.value).startswith("my.yaml: skin.scales")
    for fact in facts:
        assert fact in str(error.value)


def test_too_many_taxels_are_rejected_with_their_number_and_a_possible_spacing():
    # A cube of 0.1 m has 0.06 m2 of surface: 6e10 taxels a micrometre apart, 1e6 of them 0.245 mm apart.
    with pytest.raises(ConfigError) as error:
        resolve({"palm": 1e-6})
    for fact in ("skin.scales.palm", "1e-06 m", "6.0e+10", "0.00025 m"):
        assert fact in str(error.value)
    assert resolve({"palm": 0.00025})


def test_too_many_taxels_are_counted_over_the_whole_skin():
    # 3 x 0.06 m2 / (0.3 mm)2 = 2e6 taxels, of which no body has a million.
    with pytest.raises(ConfigError, match="about 2.0e\\+06 in all"):
        resolve({"palm": 3e-4, "finger_*": 3e-4})

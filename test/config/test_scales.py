import mujoco
import pytest
from support.errors import raises

from tactile_sim import ConfigError, config
from tactile_sim.common.names import Names

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


def test_name_selects_one_body():
    assert resolve({"palm": 0.02}) == {"palm": 0.02}


def test_unnamed_body_is_selected_by_its_id():
    assert resolve({"body8": 0.02}) == {"body8": 0.02}


def test_pattern_selects_all_matches_and_exact_names_have_precedence():
    assert resolve({"finger_*": 0.01, "finger_1": 0.02}) == {"finger_1": 0.02, "finger_2": 0.01}


def test_null_excludes_bodies_from_a_pattern():
    scales = {"*palm": 0.05, "palm": None, "left?palm": "null", "left_palm": 0.01}
    assert resolve(scales) == {"left_palm": 0.01}
    scales = {"*": 0.05, "finger_*": None, "finger_2": 0.01, "left.palm": None}
    assert set(resolve(scales)) == {"palm", "finger_2", "left_palm", "body8"}
    with raises(ConfigError, "my.yaml: skin.scales.pal", "palm"):
        resolve({"*": 0.05, "pal": None})


@pytest.mark.parametrize("order", [1, -1])
def test_narrower_pattern_has_precedence_in_any_order(order):
    scales = dict([("f*", 0.05), ("finger_?", 0.01)][::order])
    assert resolve(scales) == {"finger_1": 0.01, "finger_2": 0.01}


def test_pattern_does_not_select_the_world_or_bodies_without_collisions():
    assert set(resolve({"[!l]*": 0.05})) == {"palm", "finger_1", "finger_2", "body8"}


def test_all_contacts_can_be_selected_without_skin():
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
def test_scales_that_do_not_match_the_scene_are_rejected(scales, facts):
    with pytest.raises(ConfigError) as error:
        resolve(scales)
    assert str(error.value).startswith("my.yaml: skin.scales")
    for fact in facts:
        assert fact in str(error.value)


def test_too_many_taxels_are_rejected_with_their_number_and_a_possible_spacing():
    # A cube of 0.1 m has a surface of 0.06 m2: 6e10 taxels at 1 µm, 1e6 taxels at 0.245 mm.
    with pytest.raises(ConfigError) as error:
        resolve({"palm": 1e-6})
    for fact in ("skin.scales.palm", "1e-06 m", "6.0e+10", "0.00025 m"):
        assert fact in str(error.value)
    assert resolve({"palm": 0.00025})


def test_too_many_taxels_are_counted_over_the_whole_skin():
    # 3 x 0.06 m2 / (0.3 mm)2 = 2e6 taxels in total, but less than a million on each body.
    with raises(ConfigError, "2.0e+06"):
        resolve({"palm": 3e-4, "finger_*": 3e-4})

"""Faults that occur in real URDF files: each is repaired with a warning, or rejected with its location."""

import logging

import mujoco
import numpy as np
import pytest
from support.errors import raises
from support.urdf import BALL, INERTIAL, SOUND, TWO_LINKS, load

from tactile_sim import SceneError, scenes
from tactile_sim.scenes.urdf import MOST_REPAIRS, UrdfOptions, read_robot


@pytest.mark.parametrize(
    ("tip", "mass", "moments"),
    [
        # To satisfy A + B >= C, the smaller moments each grow by half of the difference.
        (INERTIAL.format(mass=1, xx=0.01, yy=0.02, zz=0.05), 1, (0.02, 0.03, 0.05)),
        (INERTIAL.format(mass=1, xx=0, yy=0.01, zz=0.01), 1, (1e-6, 0.01, 0.01)),
        (INERTIAL.format(mass=2, xx=0, yy=0, zz=0), 2, (2e-4, 2e-4, 2e-4)),
        (INERTIAL.format(mass=-1, xx=0.01, yy=0.01, zz=0.01), 1e-3, (0.01, 0.01, 0.01)),
        ("", 1e-3, (1e-7, 1e-7, 1e-7)),
        (INERTIAL.format(mass=1e-9, xx=1e-12, yy=1e-12, zz=1e-12), 1e-3, (1e-7, 1e-7, 1e-7)),
    ],
)
def test_impossible_inertias_are_repaired_with_a_line_or_refused(tmp_path, caplog, tip, mass, moments):
    model = load(tmp_path, tip=tip)
    tip_id = model.body("tip").id
    assert model.body_mass[tip_id] == pytest.approx(mass)
    assert sorted(model.body_inertia[tip_id]) == pytest.approx(moments, rel=1e-3)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING and "'tip'" in record.getMessage()
    if moments[0] == 1e-7:  # derived from the default mass and radius
        assert "0.001 kg" in record.getMessage() and "1e-07 kg" in record.getMessage()
    given = ["got 1e-09"] if "1e-09" in tip else []
    with raises(SceneError, "r.urdf", "'tip'", "strict_urdf", *given):
        load(tmp_path, tip=tip, strict=True)


def test_sound_inertias_stay_as_they_are(tmp_path, caplog):
    flat = INERTIAL.format(mass=1, xx=0.01, yy=0.02, zz=0.03)  # a plate: A + B = C
    model = load(tmp_path, tip=flat, strict=True)
    assert sorted(model.body_inertia[2]) == pytest.approx([0.01, 0.02, 0.03], rel=1e-5)
    massless = INERTIAL.format(mass=0, xx=0, yy=0, zz=0)
    model = load(tmp_path, tip=massless + BALL, kind="fixed", strict=True)
    assert model.body_mass[2] == pytest.approx(0.0, abs=1e-8)
    assert not caplog.records


@pytest.mark.parametrize(("inertial", "mass"), [(SOUND, 0.0), ("", 4 / 3 * np.pi * 0.1**3 * 1000)])
@pytest.mark.parametrize("floating", [False, True])
def test_a_link_without_inertial_is_massless_if_welded_to_one_with_mass(tmp_path, inertial, mass, floating):
    arm = f'<link name="arm">{inertial}</link><joint name="k" type="revolute">'
    arm += '<parent link="base"/><child link="arm"/></joint>'
    shape = f'<link name="shape">{BALL}</link><joint name="w" type="fixed">'
    shape += '<parent link="arm"/><child link="shape"/></joint>'
    model = load(tmp_path, more=arm + shape, floating_base=floating, strict=True)
    assert model.body("shape").mass == pytest.approx(mass, abs=1e-6)
    model = load(tmp_path, base=BALL, tip=inertial, kind="fixed", floating_base=floating)
    assert model.body("base").mass == pytest.approx(mass, abs=1e-6)


@pytest.mark.parametrize(
    ("joint", "position", "lowest"),
    [
        ('<origin xyz="1, 2, 3"/>', (1, 2, 3), 0),
        ('<origin xyz="1 2 3" rpy="0 0 0 0"/>', (1, 2, 3), 0),
        ('<origin xyz="$(optenv UNSET_VARIABLE 1 2 3)"/>', (1, 2, 3), 0),
        ('<origin xyz="1 2 3"/>' + 50 * '<origin xyz="0 0 0"/>', (1, 2, 3), 0),
        ('<origin xyz="1 2 3"/><limit lower="-1.5." upper="2" effort="1"/>', (1, 2, 3), -1.5),
    ],
)
def test_malformed_numbers_are_repaired_with_a_line_or_refused(tmp_path, caplog, joint, position, lowest):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="revolute"><parent link="tip"/>'
    more += f'<child link="arm"/>{joint}</joint>'
    model = load(tmp_path, more=more)
    assert model.body("arm").pos == pytest.approx(position)
    assert model.joint("k").range[0] == pytest.approx(lowest)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING and "'k'" in record.getMessage()
    with raises(SceneError, "r.urdf", "'k'", "strict_urdf"):
        load(tmp_path, more=more, strict=True)
    sound = load(tmp_path, more=more.replace(joint, '<origin xyz="1 2 3"/>'), strict=True)
    assert sound.body("arm").pos == pytest.approx(position)


@pytest.mark.parametrize(
    ("element", "key", "value"),
    [
        ('<limit lower="{}" upper="2" effort="1"/>', "lower", "-1,5"),
        ('<limit lower="-1" upper="2" effort="{}"/>', "effort", "nan"),
        ('<origin xyz="{}"/>', "xyz", "0,1 0,2 0,3"),
        ('<origin xyz="0 0 0" rpy="{}"/>', "rpy", "0 1"),
        ('<mimic joint="j" offset="{}"/>', "offset", "big"),
        ('<mimic joint="j" multiplier="{}"/>', "multiplier", "1e+300"),
    ],
)
def test_what_is_no_number_is_refused_with_joint_and_attribute(tmp_path, element, key, value):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="revolute"><parent link="tip"/>'
    with raises(SceneError, "r.urdf", "'k'", key, value):
        load(tmp_path, more=f'{more}<child link="arm"/>{element.format(value)}</joint>')


@pytest.mark.parametrize(
    ("element", "wrong"),
    [
        ('<collision><geometry><plane normal="{}"/></geometry></collision>', "0 0 0"),
        ('<collision><geometry><plane normal="{}"/></geometry></collision>', "up"),
        ('<collision><geometry><box size="{}"/></geometry></collision>', "0.1"),
        ('<collision><geometry><sphere radius="{}"/></geometry></collision>', "ten"),
        ('<inertial><mass value="{}"/></inertial>', "1kg"),
    ],
)
def test_the_remedy_for_an_invalid_attribute_is_a_valid_value(tmp_path, element, wrong):
    with raises((SceneError, ValueError), "'base'", repr(wrong)) as error:
        load(tmp_path, base=element.format(wrong), kind="fixed")
    remedy = str(error.value).rpartition("; ")[2].split("'")[1]
    load(tmp_path, base=element.format(remedy), kind="fixed", strict="mass" not in element)


@pytest.mark.parametrize(
    ("right", "wrong", "facts"),
    [
        ('<child link="tip"/>', '<child link="tp"/>', ["'j'", "child", "'tp'", "'tip'"]),
        ('<child link="tip"/>', '<child link="base"/>', ["'j'", "'base'"]),
        ("</robot>", '<joint name="k"><parent link="tip"/><child link="base"/></joint></robot>', ["root"]),
        ('radius="0.1"', 'radius="0"', ["'base'", "sphere radius", "'0'"]),
    ],
)
def test_faults_in_the_tree_or_a_shape_name_joint_or_link(tmp_path, right, wrong, facts):
    text = TWO_LINKS.format(base=SOUND + BALL, tip="", kind="fixed", offset=1, more="").replace(right, wrong)
    with raises(SceneError, "r.urdf", *facts):
        read_robot(tmp_path / "r.urdf", text, UrdfOptions())


@pytest.mark.parametrize(
    ("element", "facts"),
    [
        ('<limit lower="1" upper="-2" effort="3"/>', ("1", "-2")),
        ('<limit lower="0.5" upper="0.5" effort="3"/>', ("0.5",)),
        ('<limit effort="-3"/>', ("-3",)),
        ('<limit effort="3"/><mimic joint="jj"/>', ("'jj'", "'j'")),
        ('<limit effort="3"/><mimic joint="welded"/>', ("'welded'",)),
        ('<limit effort="3"/><mimic joint="k"/>', ("'k'",)),
    ],
)
def test_limits_and_couplings_that_cannot_be_are_ignored_with_a_line_or_refused(
    tmp_path, caplog, element, facts
):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="revolute"><parent link="tip"/>'
    more += f'<child link="arm"/>{element}</joint><link name="end"/>'
    more += '<joint name="welded" type="fixed"><parent link="arm"/><child link="end"/></joint>'
    model = load(tmp_path, more=more)
    joint = model.joint("k").id
    assert not model.jnt_limited[joint] and not model.neq
    assert model.jnt_actfrcrange[joint] == pytest.approx([-3, 3])
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    with raises(SceneError, "r.urdf", "'k'", "strict_urdf", *facts):
        load(tmp_path, more=more, strict=True)


@pytest.mark.parametrize(
    ("limit", "limited", "ends"),
    [
        ('upper="2"', True, [0, 2]),  # the other value is 0 according to the specification
        ('lower="-1"', True, [-1, 0]),
        ('lower="-inf" upper="inf" effort="inf"', False, [0, 0]),
        ('effort="0"', False, [0, 0]),
    ],
)
def test_limits_that_are_left_out_or_infinite_are_sound(tmp_path, caplog, limit, limited, ends):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="revolute"><parent link="tip"/>'
    model = load(tmp_path, more=f'{more}<child link="arm"/><limit {limit}/></joint>', strict=True)
    joint = model.joint("k").id
    assert model.jnt_limited[joint] == limited and model.jnt_range[joint] == pytest.approx(ends)
    assert not model.jnt_actfrclimited[joint] and not caplog.records


def test_other_errors_of_mujoco_show_the_element_without_a_line_of_the_rewritten_file(tmp_path):
    more = f'<link name="arm">{SOUND}</link>\n<joint name="k" type="ball"><parent link="tip"/>'
    more += '<child link="arm"/></joint>'
    (tmp_path / "r.urdf").write_text(
        TWO_LINKS.format(base=SOUND, tip=SOUND, kind="fixed", offset=1, more=more)
    )
    with raises(SceneError, "r.urdf", '<joint name="k" type="ball">'):
        scenes.load_model(tmp_path / "r.urdf")


def test_limits_of_a_spherical_joint_are_ignored(tmp_path):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="spherical"><parent link="tip"/>'
    more += '<child link="arm"/><limit lower="0.2" upper="0.8" effort="1"/></joint>'
    model = load(tmp_path, more=more)
    assert model.joint("k").type == mujoco.mjtJoint.mjJNT_BALL and not model.jnt_limited[model.joint("k").id]


def test_a_zero_at_the_end_of_the_file_is_ignored(tmp_path):
    text = TWO_LINKS.format(base=SOUND, tip=SOUND, kind="fixed", offset=1, more="") + "\n\0"
    assert read_robot(tmp_path / "r.urdf", text, UrdfOptions()).modes == {}


def test_the_number_of_warnings_about_repairs_is_limited(tmp_path, caplog):
    part = f'<link name="l{{0}}">{SOUND}</link><joint name="k{{0}}" type="fixed"><parent link="tip"/>'
    part += '<child link="l{0}"/><origin xyz="1, 2, 3"/></joint>'
    load(tmp_path, more="".join(map(part.format, range(MOST_REPAIRS + 5))))
    assert len(caplog.records) == MOST_REPAIRS + 1 and " 5 " in caplog.messages[-1]

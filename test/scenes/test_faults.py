import logging
import os
import subprocess
import sys

import pytest

from tactile_sim import SceneError, Simulation, scenes

SCENE = """<mujoco>
  <worldbody>
    <include file="parts/hand.xml"/>
  </worldbody>
</mujoco>"""
HAND = """<mujoco>
  <!-- <include file="nowhere.xml"/>
  -->
  <body name="palm">
    <joint name="wrist"/>
    <geom name="pad" type="box" size=".1 .1 .1"/>
    <include file="finger.xml"/>
  </body>
</mujoco>"""
FINGER = '<mujoco>\n<body name="finger"><geom size=".1"/></body>\n</mujoco>'


@pytest.fixture
def refused(tmp_path):
    """Return a function that loads an invalid scene and returns the one-line error.

    Its keyword arguments are the contents of MJCF files, by file name without suffix. Paths in the error are
    relative to the folder of the scene.
    """
    (tmp_path / "parts").mkdir()

    def load(**files):
        texts = {"scene": SCENE, "parts/hand": HAND, "parts/finger": FINGER} | files
        for name, text in texts.items():
            (tmp_path / f"{name}.xml").write_text(text)
        with pytest.raises(SceneError) as error:
            scenes.load_model(tmp_path / "scene.xml")
        assert "\n" not in str(error.value)
        return str(error.value).replace(f"{tmp_path}/", "")

    return load


@pytest.mark.parametrize(
    ("right", "wrong", "line", "fact"),
    [
        ("<joint name=", "<joint nam=", 5, "nam"),
        ("<geom name", "<gem name", 6, "gem"),
        (".1 .1 .1", ".1 -.1 .1", 6, "must be positive"),
        (".1 .1 .1", ".1 .1 big", 6, "big"),
        ('"box"', '"mesh" mesh="felt"', 6, "'felt'"),
        ("</body>", "", 4, "palm"),
        ("finger.xml", "finer.xml", 7, "finer.xml"),
        ("finger.xml", "../scene.xml", 7, "../scene.xml"),
    ],
)
def test_faults_in_included_files_name_file_and_line_with_its_text(refused, right, wrong, line, fact):
    hand = HAND.replace(right, wrong)
    message = refused(**{"parts/hand": hand})
    assert message.startswith(f"parts/hand.xml: line {line}: ")
    assert f", in {hand.splitlines()[line - 1].strip()}" in message and fact in message


def test_a_fault_is_found_where_files_include_files(refused):
    message = refused(**{"parts/finger": FINGER.replace("size", "sise")})
    assert message.startswith("parts/finger.xml: line 2: ") and "'sise'" in message


def test_faults_in_attached_models_name_the_line_that_attaches_them(refused):
    scene = '<mujoco>\n<asset>\n<model name="hand" file="hand.xml"/></asset></mujoco>'
    hand = "<mujoco>\n<worldbody>\n<geom sise='1'/></worldbody></mujoco>"
    message = refused(scene=scene, hand=hand)
    assert message.startswith("scene.xml: line 3: 'model': ") and "'sise'" in message
    assert ', in <model name="hand" file="hand.xml"/>' in message


def test_an_unknown_material_is_ignored_with_a_warning(tmp_path, caplog):
    scene = SCENE.replace(
        "<mujoco>", f'<mujoco><default><geom material="felt"/><site material="silk{"k" * 5000}"/></default>'
    )
    (tmp_path / "scene.xml").write_text(scene)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "hand.xml").write_text(HAND)
    (tmp_path / "parts" / "finger.xml").write_text(FINGER)
    assert (scenes.load_model(tmp_path / "scene.xml").geom_matid == -1).all()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "scene.xml" in record.getMessage() and "'felt'" in record.getMessage()
    assert len(record.getMessage()) < 1000


MODEL = '<mujoco>\n<asset>\n<model file="{}.xml"/></asset></mujoco>'


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"scene": MODEL.format("scene")}, "scene.xml: line 3: "),
        (
            {"scene": MODEL.format("parts/hand"), "parts/hand": MODEL.format("../scene")},
            "parts/hand.xml: line 3: ",
        ),
        ({"parts/finger": MODEL.format("hand")}, "parts/finger.xml: line 3: "),
    ],
)
def test_a_scene_that_attaches_itself_is_refused(refused, files, place):
    assert refused(**files).startswith(f"{place}'model': ")


def test_faults_of_included_contact_sensors_show_the_sensor(refused):
    scene = '<mujoco><include file="sensors.xml"/></mujoco>'
    sensors = '<mujoco><sensor><contact name="grip" body1="palm" data="forc"/></sensor></mujoco>'
    message = refused(scene=scene, sensors=sensors)
    assert message.startswith("sensors.xml: line 1: ") and 'data="forc"' in message


def test_conflicts_of_an_attached_model_are_reported_once_and_not_to_a_file(tmp_path):
    """MuJoCo reports each conflict in two ways, and writes a log file unless a warning handler is set."""
    hand = '<mujoco model="h"><option timestep="0.001"/><worldbody><body name="b"/></worldbody></mujoco>'
    (tmp_path / "hand.xml").write_text(hand)
    scene = '<mujoco><asset><model name="h" file="hand.xml"/></asset><worldbody>'
    scene += '<attach model="h" body="b" prefix="a_"/></worldbody></mujoco>'
    (tmp_path / "scene.xml").write_text(scene)
    program = "import sys; from tactile_sim import scenes; scenes.load_model(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "scene.xml"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr.count("Attach conflict") == 1 and "timestep" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"hand.xml", "scene.xml"}


def test_warnings_of_the_compiler_are_logged_once_with_the_scene(tmp_path, recwarn, caplog):
    scene = (
        '<mujoco><compiler settotalmass="2"/><worldbody><body><geom size="1"/></body></worldbody></mujoco>'
    )
    (tmp_path / "scene.xml").write_text(scene)
    for _ in range(2):
        assert scenes.load_model(tmp_path / "scene.xml").body_mass.sum() == pytest.approx(2.0)
    (record,) = caplog.records
    assert all(fact in record.getMessage() for fact in ("scene.xml", "settotalmass"))
    assert not recwarn.list


def test_contacts_that_mujoco_cannot_compute_are_a_fault_of_the_scene(tmp_path):
    file = tmp_path / "scene.xml"
    body = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom size="1e200" pos="0 1e200 0"/>'
    world = f'<geom size="1"/><body><freejoint/>{body}</body>'
    file.write_text(f"<mujoco><worldbody>{world}</worldbody></mujoco>")
    with pytest.raises(SceneError, match=f"{file}: .*; check the sizes"):
        Simulation({"scene": str(file)})

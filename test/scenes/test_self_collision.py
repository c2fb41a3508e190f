"""Which links of a robot collide with one another, and the warning about links that overlap."""

import mujoco
import numpy as np
import pytest
from support.errors import raises

from tactile_sim import ConfigError, Simulation

ARM = """<mujoco><worldbody>
<body name="arm"><geom size="0.1"/>
  <body><joint type="slide"/><geom size="0.01" pos="0 0 -1"/>
    <body name="tip" pos="0 0 0.17"><joint type="slide"/><geom size="0.1"/></body>
  </body>
</body>
<body name="table" pos="1 0 0"><geom type="box" size="0.1 0.1 0.1"/></body>
<body name="cube" pos="1 0 0.193"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
</worldbody></mujoco>"""
SCENE = {"scene": "arm.xml", "contacts": "all"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "arm.xml").write_text(ARM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pairs(simulation, **joints):
    """Return the pairs of bodies that collide."""
    data, model = simulation.engine.data, simulation.engine.model
    for joint, position in joints.items():
        data.qpos[simulation.names.joint_id(joint)] = position
    mujoco.mj_forward(model, data)
    bodies = model.geom_bodyid[data.contact.geom[data.contact.dist < 0.0]]
    return {
        tuple(sorted(simulation.names.bodies[body] for body in pair)) for pair in np.unique(bodies, axis=0)
    }


@pytest.mark.parametrize("kind", ["scene", "robot", "spec"])
def test_links_of_an_mjcf_collide_as_written_unless_an_option_excludes_pairs(folder, kind):
    def simulation(**options):
        options = {"scene_options": options} if options else {}
        if kind == "spec":
            return Simulation(mujoco.MjSpec.from_string(ARM), {"contacts": "all"} | options)
        if kind == "robot":
            return Simulation({"robots": {"arm": {"file": "arm.xml"}}, "contacts": "all"} | options)
        return Simulation(SCENE | options)

    on_table, overlap, ahead = ("cube", "table"), ("arm", "tip"), ("arm", "body2")
    assert pairs(simulation()) == pairs(simulation(self_collision="all")) == {on_table, overlap}
    apart = simulation(self_collision="apart")
    assert pairs(apart) == {on_table}
    assert pairs(apart, **{"body2/joint0": 1.0}) == {on_table, ahead}
    assert pairs(simulation(self_collision="off"), **{"body2/joint0": 1.0}) == {on_table}


def test_a_deep_overlap_is_logged_with_bodies_and_depth(folder, caplog):
    Simulation(SCENE)
    lines = [record.getMessage() for record in caplog.records]
    expected = [["arm.xml", "'arm'", "'tip'", " 30.0 mm", "self_collision"], ["'table'", "'cube'", " 7.0 mm"]]
    for line, facts in zip(lines, expected, strict=True):
        assert [fact for fact in facts if fact not in line] == []
    caplog.clear()
    Simulation(SCENE | {"scene_options": {"self_collision": "apart"}})
    (record,) = caplog.records
    assert "'cube'" in record.getMessage() and "self_collision" not in record.getMessage()
    (folder / "arm.xml").write_text(ARM.replace("0.193", "0.196").replace("0.17", "0.196"))
    caplog.clear()
    Simulation(SCENE)  # 4 mm
    assert not caplog.records


def test_collisions_of_a_compiled_model_cannot_be_excluded():
    with raises(ConfigError, "self_collision"):
        Simulation(
            mujoco.MjModel.from_xml_string(ARM),
            {"contacts": "all", "scene_options": {"self_collision": "off"}},
        )

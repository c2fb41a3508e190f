"""Test the commands info, check and presets, without ROS."""

import json

import pytest
from support.command_line import command_without_ros

from tactile_sim.commands import main


def test_info_without_ros_lists_bodies_and_taxels():
    done = command_without_ros("info", "touch_cube")
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("1.24 kg", "table_top", "ball_4_free", "no sensors", "no actuators"):
        assert text in done.stdout  # a cube of 1 kg and four balls of 60 g


def test_info_as_json_has_the_contents_in_si_units(capsys):
    assert main(["info", "touch_cube", "--json"]) == 0
    contents = json.loads(capsys.readouterr().out)
    [cube] = contents["pads"]
    assert (cube["pad"], cube["topic"], cube["spacing"]) == ("cube", "tactile/cube", 0.02)
    assert cube["area"] == pytest.approx(6 * 0.2**2, rel=0.01)
    assert cube["taxels"] == pytest.approx(cube["area"] / 0.02**2, rel=0.25)  # about spacing² per taxel
    assert cube["ids"] == [0, cube["taxels"] - 1]
    masses = {body["body"]: body["mass"] for body in contents["bodies"]}
    assert masses["cube"] == pytest.approx(1.0)
    assert contents["moving_mass"] == pytest.approx(sum(masses.values()) - masses["table"])


def test_short_info_of_the_infant_lists_only_its_pads(capsys):
    assert main(["info", "infant", "--short"]) == 0
    summary, skin = capsys.readouterr().out.split("pads\n")
    rows = [line.split() for line in skin.splitlines()[2:] if line and not line.startswith(" ")]
    assert len(rows) >= 22
    taxels = sum(int(row[3]) for row in rows)  # the columns after pad, topic and body
    assert taxels == pytest.approx(7000, rel=0.2)
    assert str(taxels) in summary


@pytest.mark.parametrize("config", ["touch_cube", "infant"])
def test_check_prints_one_line_for_a_valid_configuration(config, capsys):
    assert main(["check", config]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{config}: ")
    assert (out.count("\n"), err) == (1, "")


@pytest.mark.parametrize("command", ["check", "info"])
def test_joints_without_position_command_are_listed_with_the_reason(command, tmp_path, capsys):
    (tmp_path / "scene.xml").write_text("""<mujoco><worldbody>
      <body name="arm"><joint name="elbow"/><geom size=".1"/></body>
      <body><joint name="knee"/><geom size=".1"/></body></worldbody>
      <actuator><motor name="push" joint="elbow"/>
        <pid name="servo" joint="knee" kp="1" input="pos ff"/></actuator></mujoco>""")
    (tmp_path / "it.yaml").write_text(
        "/**:\n  ros__parameters:\n    scene: scene.xml\n    skin: {scales: {arm: 0.05}}\n"
    )
    assert main([command, str(tmp_path / "it.yaml")]) == 0
    out = capsys.readouterr().out
    assert "'push'" in out and "effort" in out
    if command == "check":
        assert "elbow (" in out and "knee" not in out
    else:
        lines = [" ".join(line.split()) for line in out.splitlines()]
        assert "servo/0 joint knee" in lines and "servo/1 joint knee" in lines


def test_check_names_the_key_and_the_nearest_name(tmp_path, capsys):
    config = tmp_path / "misspelled.yaml"
    config.write_text(
        "/**:\n  ros__parameters:\n    scene: touch_cube.xml\n    skin: {scales: {cub: 0.02}}\n"
    )
    assert main(["check", str(config)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tactile_sim: error: ")
    assert err.count("\n") == 1
    for word in ("skin.scales", "cub", "'cube'"):
        assert word in err


def test_info_lists_the_topic_of_a_body_with_an_invalid_topic_name(tmp_path, capsys):
    joint = '<joint name="turn" range="-inf 1" limited="true"/>'
    body = f'<body name="left.palm">{joint}<geom type="box" size=".1 .1 .1"/></body>'
    (tmp_path / "palm.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    config = tmp_path / "palm.yaml"
    config.write_text("/**:\n  ros__parameters: {scene: palm.xml, skin: {scales: {left.palm: 0.02}}}\n")
    assert main(["info", str(config), "--json"]) == 0
    contents = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)  # JSON has no infinity
    [pad], [joint] = contents["pads"], contents["joints"]
    assert joint["range"][0] is None
    assert (pad["pad"], pad["topic"]) == ("left.palm", "tactile/left_palm")
    assert main(["check", str(config)]) == 0
    assert "1 body, 1 with skin, " in capsys.readouterr().out


def test_info_plots_the_layout_of_pads(tmp_path, capsys):
    file = tmp_path / "layout.svg"
    assert main(["info", "gripper", "--plot", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(file)
    assert "left_pad: 16 taxels" in file.read_text()
    file.write_text("mine")
    assert main(["info", "gripper", "--plot", str(file)]) == 2
    assert "--force" in capsys.readouterr().err and file.read_text() == "mine"
    assert main(["info", "gripper", "--short", "--plot", str(file), "--force"]) == 0
    assert "left_pad: 16 taxels" in file.read_text()
    for wrong in (tmp_path / "layout.txt", tmp_path / "none" / "layout.svg"):
        assert main(["info", "gripper", "--plot", str(wrong)]) == 2
        assert wrong.name in capsys.readouterr().err


def test_presets_are_listed_with_the_sources_of_their_figures(capsys):
    assert main(["presets"]) == 0
    assert "xela_uspa44" in capsys.readouterr().out
    assert main(["presets", "xela_uspa44"]) == 0
    assert "secondary" in capsys.readouterr().out
    assert main(["presets", "xela"]) == 2
    assert "xela_u" in capsys.readouterr().err


BOX = "".join(f"v {x} {y} {z}\n" for x in (0, 0.1) for y in (0, 0.1) for z in (0, 0.1))
BOX += "f 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\nf 1 5 6\nf 1 6 2\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\n"
LID = "f 2 6 8\nf 2 8 4\n"
PAD = "positions:\n- [0.05, 0, 0.05]\n- [0.06, 0, 0.05]\nnormals:\n- [0, {0}, 0]\n- [0, -1, 0]\n"


@pytest.mark.parametrize(
    ("lid", "normal", "response", "facts"),
    [
        (LID, -1, "elastic_foundation", []),
        ("", -1, "elastic_foundation", [["cup_geom", "100 cm²"]]),
        ("", -1, "hertz", []),
        (LID, 1, "elastic_foundation", [["skin.pads.side", "1 of 2", "'b'"]]),
    ],
)
def test_check_warns_about_open_meshes_and_inward_normals(tmp_path, capsys, lid, normal, response, facts):
    (tmp_path / "cup.obj").write_text(BOX + lid)
    (tmp_path / "scene.xml").write_text("""<mujoco><asset><mesh name="cup" file="cup.obj"/></asset><worldbody>
      <body name="b"><geom type="box" size=".05 .05 .05" pos=".05 .05 .05"/></body>
      <body><geom name="cup_geom" type="mesh" mesh="cup" pos="1 0 0"/></body></worldbody></mujoco>""")
    (tmp_path / "pad.yaml").write_text(PAD.format(normal))
    (tmp_path / "it.yaml").write_text(
        "/**:\n  ros__parameters:\n    scene: scene.xml\n"
        f"    skin: {{response_function: {response}, pads: {{side: {{body: b, layout: pad.yaml}}}}}}\n"
    )
    assert main(["check", str(tmp_path / "it.yaml")]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert len(lines) == len(facts)
    for line, there in zip(lines, facts, strict=True):
        assert [fact for fact in there if fact not in line] == []

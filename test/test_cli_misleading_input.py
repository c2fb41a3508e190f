"""Wrong arguments that are easily confused are rejected before any work, with the fact that helps."""

from __future__ import annotations

import pytest

from tactile_sim.commands import main

METRIC = "def metric(episodes, simulation): return 1.0\n"
CASES = {
    "a range without count": (
        "sweep gripper --metric m.py --over skin.thickness=0.001:0.002", ["0.001:0.002:"],
    ),
    "a file as the folder of a dataset": ("collect gripper --episodes 1 --out m.py", ["--out", "is a file"]),
    "a file as the folder of figures": ("plot fall --out m.py", ["m.py is a file"]),
    "a missing controller": ("demo touch_cube --controller contrl.py", ["--controller", "'control.py'"]),
    "a plot in a missing folder": ("info gripper --plot none/layout.svg", ["--plot", "none"]),
    "a motion that is no CSV": ("protocol gripper --pad left_pad --out press.txt", [".csv", "press.txt"]),
    "the description of a bag": ("bag info fall/metadata.yaml", ["metadata.yaml", "folder"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_misleading_input_is_rejected_with_the_fact_that_helps(case, make_bag, tmp_path, monkeypatch, capfd):
    command, facts = CASES[case]
    if "fall" in command:
        make_bag().rename(tmp_path / "fall")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(METRIC)
    (tmp_path / "control.py").write_text("")
    before = sorted(tmp_path.iterdir())
    assert main(command.split()) == 2
    out, err = capfd.readouterr()
    (line,) = err.splitlines()
    assert line.startswith("tactile_sim: error: ") and all(fact in line for fact in facts), line
    assert not out and sorted(tmp_path.iterdir()) == before


def test_unknown_task_suggests_only_tasks_of_this_package(tmp_path, monkeypatch, capfd):
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    monkeypatch.chdir(tmp_path)
    assert main("collect touch_cube --out made --task Hoper-v4 --episodes 1".split()) == 2
    assert "Hopper" not in capfd.readouterr().err


def test_list_of_bodies_for_one_pad_is_not_to_be_quoted(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text(
        "/**: {ros__parameters: {scene: gripper.xml, skin: {pads: {p: {body: [a, b], spacing: 0.01}}}}}"
    )
    assert main(["check", "my.yaml"]) == 2
    err = capfd.readouterr().err
    assert "skin.pads.p.body" in err and "quotes" not in err

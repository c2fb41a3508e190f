"""Check the pages in docs/: links are valid, and code and commands work."""

from __future__ import annotations

import csv
import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tactile_sim.commands import main

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def text(page: str) -> str:
    """Return the text of a page."""
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks in a language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", text(page), re.DOTALL | re.MULTILINE)


def write_files(page: str, folder: Path) -> None:
    """Write the files shown on a page; each is a code block that follows the file's name and a colon."""
    pattern = r"^`([\w.]+)`:(?:(?!```).)*?^```\w+\n(.*?)^```"
    for name, content in re.findall(pattern, text(page), re.DOTALL | re.MULTILINE):
        (folder / name).write_text(content)


def anchors(file: Path) -> set[str]:
    """Return the anchors on a page."""
    heads = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_links_are_valid(page):
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_index_lists_every_page():
    named = set(re.findall(r"\]\(([\w]+\.md)\)", text("index.md")))
    assert named == {page.name for page in PAGES} - {"index.md"}


def test_pages_and_examples_import_public_names_only():
    public = importlib.import_module("tactile_sim").__all__
    modules = {f"tactile_sim.{name}" for name in public} | {"tactile_sim.msg", "tactile_sim.srv"}
    modules |= {f"tactile_sim.mimo.{name}" for name in ("touch", "sensorpoints", "sensormeshes", "plots")}
    # These can be imported with other packages only.
    modules |= {"tactile_sim.batch.mjlab", "tactile_sim.learning.stable_baselines3"}
    modules.add("tactile_sim.trifinger.grip")
    files = [*PAGES, ROOT / "README.md", *(ROOT / "examples").rglob("*.py")]
    found = [
        (file.name, module, names)
        for file in files
        for module, names in re.findall(
            r"^ *(?:from|import) (tactile_sim[\w.]*)(?: import ([\w, ]+))?",
            file.read_text(encoding="utf-8"),
            re.M,
        )
    ]
    assert len(found) > 30
    for file, module, names in found:
        assert module == "tactile_sim" or module in modules, (file, module)
        known = getattr(importlib.import_module(module), "__all__", None) if module.count(".") < 2 else None
        for name in names.split(",") if names and known else []:
            assert name.split()[0] in known, (file, module, name)


def test_contributing_lists_every_folder():
    rows = re.findall(r"^\| (`.*/`) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    folders = {init.parent.name for init in (ROOT / "tactile_sim").glob("*/__init__.py")}
    assert set(re.findall(r"`(\w+)/`", " ".join(rows))) == folders


def test_own_robot_page_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_files("own_robot.md", tmp_path)
    commands = [
        line.split("#")[0].split()
        for block in blocks("own_robot.md", "bash")
        for line in block.splitlines()
        if line.startswith("tactile_sim")
    ]
    assert len(commands) == 6
    for command in commands:
        assert main(command[1:]) == 0
    output = capsys.readouterr().out
    assert all(f"{name}.yaml: " in output for name in ("gripper", "probe", "table"))
    (code,) = blocks("own_robot.md", "python")
    names: dict = {}
    exec(code, names)
    measured = [names["left"][1], names["right"][1]]
    # The fingers' inner faces start 39 mm from the center, and the cup's radius is 20 mm; contact is soft.
    np.testing.assert_allclose(measured, [100 * (0.04 - 0.019), -100 * (0.04 - 0.019)], rtol=0.05)
    applied = names["simulation"].engine.data.actuator_force
    np.testing.assert_allclose(measured, [applied[0], -applied[1]], rtol=1e-3)


def test_collect_page_works(tmp_path, monkeypatch):
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for commands in blocks("collect.md", "bash"):
        for command in commands.splitlines():
            assert main(command.split()[1:]) == 0
    (table,) = blocks("collect.md", "text")
    with open(tmp_path / "sweep.csv") as file:
        rows = list(csv.DictReader(file))
    assert ",".join(rows[0]) == table.splitlines()[0]
    peaks = [float(row["peak_taxel"]) for row in rows if float(row["sensor.noise.std"]) == 0.0]
    assert peaks == pytest.approx([0.21, 0.13], abs=0.01)  # the page quotes them
    (code,) = blocks("collect.md", "python")
    names: dict = {}
    exec(code, names)
    assert names["left"].shape == (4 * 50, 16, 3)


def test_controller_without_ros_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files("own_robot.md", tmp_path)
    *_, code = blocks("controllers.md", "python")
    names: dict = {}
    exec(code, names)
    assert 1.0 <= names["squeeze"] < 1.1


def test_start_page_works():
    (code,) = blocks("start.md", "python")
    names: dict = {}
    exec(code, names)
    np.testing.assert_allclose(
        names["simulation"].observe().forces_world.sum(axis=0), [0, 0, 9.81], atol=0.01
    )


def test_own_function_page_works(tmp_path):
    write_files("own_function.md", tmp_path)
    code = (
        "from sliding import *; from tactile_sim import config; from tactile_sim.simulation import Simulation"
    )
    code += "; s = Simulation(config.load('rub.yaml')); s.step(60); t = s.observe().readings"
    code += "; print(t.shape[1], (t >= 0).all(), main(['check', 'rub.yaml']))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[0].startswith("rub.yaml: ")
    assert done.stdout.splitlines()[1] == "1 True 0"


def test_every_figure_exists_and_every_listed_script_exists():
    shown = {
        Path(name).name
        for page in [*PAGES, ROOT / "README.md"]
        for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    (listed,) = re.findall(r"SCRIPTS=\((.*?)\)", (ROOT / "tools/pictures.bash").read_text(), re.DOTALL)
    assert shown
    assert all((ROOT / "tools" / f"{script}.py").exists() for script in listed.split())
    assert all((DOCS / "images" / name).exists() for name in shown)

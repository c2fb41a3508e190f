"""Test the package's import graph, including imports inside functions and for type checking."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def modules() -> dict[str, Path]:
    """Return the files of all modules by module name."""
    files = [*(ROOT / "tactile_sim").rglob("*.py"), ROOT / "tactile_sim/_core.pyi"]
    names = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in files}
    return {name.removesuffix(".__init__"): file for name, file in names.items()}


def unit(module: str) -> str:
    """Return the package or top-level module that a module belongs to."""
    return module.split(".")[1] if "." in module else module


def imports() -> Iterator[tuple[str, str]]:
    """Yield the importing and the imported module for each import across packages.

    The package itself is left out: it imports its public names on first use.
    """
    known = modules()
    for name, file in known.items():
        if name == "tactile_sim":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            targets = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert not node.level, f"{name}: relative import"
                full = [f"{node.module}.{alias.name}" for alias in node.names]
                targets = [target if target in known else str(node.module) for target in full]
            yield from (
                (name, target) for target in targets if target in known and unit(name) != unit(target)
            )


def table() -> list[list[str]]:
    """Return the packages in each row of the table in CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:`[\w/]+/`(?:, )?)+)", text, re.MULTILINE)
    return [re.findall(r"`([\w/]+)/`", row) for row in rows]


def order() -> dict[str, int]:
    """Return the rank of each package in the table."""
    return {package: rank for rank, row in enumerate(table()) for package in row}


def test_the_table_lists_each_package_once():
    listed = [package for row in table() for package in row if "/" not in package]
    files = (ROOT / "tactile_sim").glob("*/__init__.py")
    assert sorted(listed) == sorted(file.parent.name for file in files)


def test_packages_import_only_packages_above_them_in_the_table():
    ranks = order()
    wrong = [
        f"{source} imports {target}"
        for source, target in imports()
        if unit(source) in ranks and unit(target) in ranks and ranks[unit(target)] > ranks[unit(source)]
    ]
    assert not wrong


def test_no_two_packages_or_modules_import_each_other_in_a_circle():
    needs: dict[str, set[str]] = {}
    for source, target in imports():
        needs.setdefault(unit(source), set()).add(unit(target))
    remaining = set(needs)
    while ready := {name for name in remaining if not needs[name] & remaining}:
        remaining -= ready
    assert not remaining


def test_the_core_does_not_import_ros():
    ranks = order()
    assert not [
        (source, target)
        for source, target in imports()
        if unit(target) == "ros" and ranks.get(unit(source), 0) < ranks["ros"] and unit(source) != "cli"
    ]


def test_nothing_imports_the_names_of_other_libraries():
    assert not [(source, target) for source, target in imports() if unit(target) in ("mimo", "trifinger")]

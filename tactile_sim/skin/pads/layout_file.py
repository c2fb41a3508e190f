"""Read taxel layouts from CSV, ``.npz`` and YAML files."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tactile_sim.common.errors import ConfigError
from tactile_sim.common.files import MOST_TEXT, read_file, similar_file
from tactile_sim.common.schema import shown
from tactile_sim.skin.pads.layout import COLUMNS, Layout, layout_of_arrays


def read_layout(path: Path, where: str) -> Layout:
    """Read a layout from a file.

    Args:
        path: A ``.csv``, ``.npz`` or ``.yaml`` file with the columns or arrays in `COLUMNS`.
        where: Prefix for error messages (file and key).

    Raises:
        ConfigError: The file cannot be read, or its content is invalid.
    """
    readers = {".csv": _read_csv, ".npz": _read_npz, ".yaml": _read_yaml, ".yml": _read_yaml}
    if path.suffix not in readers:
        raise ConfigError(f"{where}: must be a .csv, .npz or .yaml file, got {path.name!r}")
    try:
        arrays = readers[path.suffix](read_file(path, MOST_TEXT))
    except OSError as error:
        near = similar_file(path) if isinstance(error, FileNotFoundError) else ""
        raise ConfigError(f"{where}: {path}: {error.strerror or error}{near}") from None
    except ValueError as error:
        raise ConfigError(f"{where}: {path}: {error}") from None
    return layout_of_arrays(arrays, f"{where}: {path}")


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise ValueError(
            f"line {line}, column {column}: must be text in UTF-8, got the byte 0x{content[error.start]:02x};"
            " save the file in that encoding"
        ) from None


def _read_csv(content: bytes) -> dict[str, np.ndarray]:
    known = [column for columns in COLUMNS.values() for column in columns]
    reader = csv.reader(io.StringIO(_text(content), newline=""))
    try:
        lines = [(reader.line_num, row) for row in reader if row and not row[0].lstrip().startswith("#")]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: not CSV: {error}; separate numbers by commas") from None
    if not lines:
        raise ValueError(f"is empty; the first line names the columns: {', '.join(known)}")
    header = [name.strip() for name in lines[0][1]]
    for name in header:
        if name not in known:
            raise ValueError(
                f"line {lines[0][0]}: unknown column {name!r}; the columns are {', '.join(known)},"
                " separated by commas"
            )
    if len(set(header)) != len(header):
        raise ValueError("a column occurs twice")
    present = {name: columns for name, columns in COLUMNS.items() if set(columns) & set(header)}
    for columns in present.values():
        for column in columns:
            if column not in header:
                raise ValueError(f"column {column!r} is missing; columns: {', '.join(known)}")
    for line, row in lines[1:]:
        if len(row) != len(header):
            raise ValueError(f"line {line}: must have {len(header)} values, got {len(row)}")
    cells = [[_number(*cell, line) for cell in zip(row, header, strict=True)] for line, row in lines[1:]]
    values = np.array(cells).reshape(-1, len(header))
    parts = {name: values[:, [header.index(column) for column in present[name]]] for name in present}
    return {name: part if part.shape[1] == 3 else part[:, 0] for name, part in parts.items()}


def _number(text: str, column: str, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"line {line}: column {column!r} must be a finite number, got {text!r}")
    return number


def _read_npz(content: bytes) -> dict[str, np.ndarray]:
    example = "numpy.savez(FILE, positions=positions, normals=normals)"
    if not content.startswith(b"PK"):
        raise ValueError(f"not an .npz file; write it with {example}")
    arrays, name = {}, ""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            for name in file.files:
                arrays[name] = file[name]
    except Exception:  # zipfile, zlib and numpy raise many kinds of exceptions
        place = f"the array {name!r}" if name else "the archive"
        raise ValueError(f"{place} is damaged or has no numbers; write it with {example}") from None
    return arrays


def _read_yaml(content: bytes) -> dict[str, Any]:
    example = "positions: [[0.0, 0.0, 0.0], ...] and normals: [[0.0, 0.0, 1.0], ...]"
    try:
        values = yaml.safe_load(_text(content))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{where}not YAML: {error.problem or error.context}; write {example}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"not YAML: {' '.join(str(error).split())}; write {example}") from None
    if not isinstance(values, dict):
        raise ValueError(f"must be a mapping, got {shown(values)}; write {example}")
    return values

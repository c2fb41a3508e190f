"""Read a ROS 2 parameter file exactly as ``rcl`` does, without ROS.

``rcl_yaml_param_parser`` implements neither YAML 1.1 nor 1.2. A plain scalar is a boolean if it is
a word such as ``yes``, a number if C's ``strtol`` or ``strtod`` accepts it, and text otherwise. Null is not
supported. This module processes the same YAML events, so the node and the core read the same values from a
file. Input that rcl rejects or reads incorrectly is rejected with the line and a remedy.
"""

from __future__ import annotations

import codecs
import ctypes
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

import yaml

from tactile_sim.common.errors import ConfigError
from tactile_sim.common.files import MB, YAML_LOADER, read_file, shipped_file, similar_file
from tactile_sim.common.schema import check_characters

Value = bool | int | float | str | list[bool] | list[int] | list[float] | list[str]

_TRUE = {"Y", "y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}
_FALSE = {"N", "n", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}
_INFINITIES = {f"{sign}.{word}" for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")}
_NANS = {".nan", ".NaN", ".NAN"}
NODE_LEVEL = "ros__parameters"
_MOST_BYTES = MB
"""Maximum size of a parameter file [bytes]; PyYAML parses about 0.5 MB per second."""


def read(path: Path, source: str, node: str = "/tactile_sim") -> dict[str, Value]:
    """Return the parameters that a file sets for a node, keyed by full name such as ``skin.scales.cube``."""
    sections = read_sections(path, source)
    matching = [parameters for name, parameters in sections.items() if applies(name, node)]
    if not matching:
        there = f"only for {', '.join(map(repr, sections))}" if sections else "nothing at all"
        raise ConfigError(
            f"{source}: has no parameters for the node {node}, {there};"
            f" write them below '/**:' and, one level deeper, '{NODE_LEVEL}:'"
        )
    return {name: value for parameters in matching for name, value in parameters.items()}


def read_sections(path: Path, source: str) -> dict[str, dict[str, Value]]:
    """Return the parameters in each section of a file, keyed by section name."""
    return _Reader(_text(path, source), source).sections()


def scalar(text: str) -> bool | int | float | str:
    """Return the value of a plain (unquoted) scalar, as rcl's ``get_value`` does."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    integer = _c_number(_C.strtol, text, 0)
    if integer is not None:
        return integer
    number = _c_number(_C.strtod, text.replace(".", "") if text in _INFINITIES | _NANS else text)
    return text if number is None else number


_C = ctypes.CDLL(None, use_errno=True)
_C.strtol.restype = ctypes.c_long
_C.strtod.restype = ctypes.c_double


def _c_number(convert: Callable, text: str, *base: int) -> Any:
    """Convert a string with ``strtol`` or ``strtod``; return None unless all of it is a number."""
    encoded = ctypes.create_string_buffer(text.encode())
    end = ctypes.c_void_p()
    ctypes.set_errno(0)
    number = convert(encoded, ctypes.byref(end), *base)
    consumed = (end.value or 0) - ctypes.addressof(encoded)
    return number if ctypes.get_errno() == 0 and consumed == len(encoded) - 1 else None


def _text(path: Path, source: str) -> str:
    try:
        content = read_file(path, _MOST_BYTES)
        if content.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<"):
            raise ConfigError(
                f"{source}: is a scene, not a configuration; write a YAML file with 'scene: {path.name}' and"
                f" 'skin: {{scales: {{BODY: 0.02}}}}' below '/**:' and '{NODE_LEVEL}:'"
            )
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        shipped = f"; the shipped configuration has the name {path.stem!r}" if _is_shipped(path) else ""
        raise ConfigError(f"{source}: no such file{shipped or similar_file(path)}") from None
    except IsADirectoryError:
        raise ConfigError(f"{source}: is a folder, not a YAML file") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigError(f"{source}: line {line} is not UTF-8; save the file in that encoding") from None
    except OSError as error:
        raise ConfigError(f"{source}: cannot be read: {error.strerror or error}") from None


def _is_shipped(path: Path) -> bool:
    return len(path.parts) == 1 and shipped_file("config", path.stem) is not None


def applies(section: str, node: str) -> bool:
    """Return whether a section's name matches a node; ``*`` matches one token, ``**`` any number."""
    name = section if section.startswith("/") else "/" + section
    pattern = re.escape(name).replace(r"/\*\*", r"(/\w+)*").replace(r"/\*", r"/\w+")
    return re.fullmatch(pattern, node) is not None


class _Reader:
    """Reads the parameters in a file in one pass over the YAML events."""

    def __init__(self, text: str, source: str):
        self._source = source
        self._lines = text.split("\n")
        self._events = yaml.parse(text, Loader=YAML_LOADER)
        self._sections: dict[str, dict[str, Value]] = {}

    def sections(self) -> dict[str, dict[str, Value]]:
        """Return the parameters in each section, in the order of the file, keyed by full name."""
        top = f"the top level must be a mapping ('/**:', with '{NODE_LEVEL}:' below it)"
        try:
            for event in self._events:
                if isinstance(event, yaml.MappingStartEvent):
                    self._nodes("")
                elif isinstance(event, yaml.CollectionStartEvent):
                    self._fail(event, f"{top}, got a list")
                elif isinstance(event, yaml.ScalarEvent) and event.value:
                    self._fail(event, f"{top}, got {event.value[:40]!r}")
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
            problem = str(error.problem or error.context)
            line = "".join(self._lines[mark.line : mark.line + 1]) if mark else ""
            remedy = "; indent with spaces, not tabs" if line.lstrip(" ").startswith("\t") else ""
            raise ConfigError(f"{self._source}: {where}not YAML: {problem}{remedy}") from None
        except yaml.YAMLError as error:
            raise ConfigError(f"{self._source}: not YAML: {' '.join(str(error).split())}") from None
        except RecursionError:
            raise ConfigError(f"{self._source}: is nested too deeply for a parameter file") from None
        return self._sections

    def _nodes(self, name: str) -> None:
        """Read a mapping of node names, above the level of the parameters.

        Names can be nested: ``ns: {tactile_sim: {ros__parameters: ...}}``.
        """
        for key, event in self._items():
            if not isinstance(event, yaml.MappingStartEvent):
                if key == NODE_LEVEL:
                    self._fail(event, f"'{NODE_LEVEL}:' is empty; indent the parameters below it")
                for level in name.split("/"):
                    if get_close_matches(level, [NODE_LEVEL]):
                        self._fail(event, f"{key!r} is below {level!r}; did you mean '{NODE_LEVEL}'?")
                self._fail(
                    event, f"{key!r} must be below '/**:' and '{NODE_LEVEL}:'; add these two levels above it"
                )
            if key != NODE_LEVEL:
                slash = "/" if name and not name.endswith("/") else ""
                self._nodes(name + slash + key)
            elif not name:
                self._fail(event, f"'{NODE_LEVEL}:' must have a node's name above it, such as '/**:'")
            else:
                self._parameters("", self._sections.setdefault(name, {}))

    def _parameters(self, prefix: str, into: dict[str, Value]) -> None:
        empty = True
        for key, event in self._items():
            empty = False
            name = prefix + key
            if isinstance(event, yaml.MappingStartEvent):
                if prefix and "." in key:
                    self._fail(
                        event,
                        f"{name}: rcl cannot read mappings below a key with a dot; write '{name}.KEY: VALUE'",
                    )
                self._parameters(name + ".", into)
            elif name in into:
                self._fail(event, f"{name} is defined twice; remove one")
            elif isinstance(event, yaml.SequenceStartEvent):
                into[name] = self._sequence(event, name)
            else:
                into[name] = self._scalar(event, name)
        if empty and prefix:
            raise ConfigError(f"{self._source}: {prefix[:-1]}: rcl rejects empty mappings; remove the key")

    def _sequence(self, start: yaml.Event, name: str) -> Value:
        values: list = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            if isinstance(event, yaml.CollectionStartEvent):
                self._fail(event, f"{name}: a list must contain plain values only")
            values.append(self._scalar(event, name))
            if type(values[-1]) is not type(values[0]):
                pair = values[0], values[-1]
                remedy = "; give all of them a decimal point" if {*map(type, pair)} == {int, float} else ""
                self._fail(
                    event, f"{name}: all values must have one type, got {pair[0]!r} and {pair[1]!r}{remedy}"
                )
        if not values:
            self._fail(start, f"{name}: rcl rejects empty lists; remove the key")
        return values

    def _scalar(self, event: yaml.Event, name: str) -> bool | int | float | str:
        if not isinstance(event, yaml.ScalarEvent):
            self._fail(event, f"{name}: rcl rejects aliases; replace *{event.anchor} by its value")
        if event.style in ("'", '"') or event.tag == "tag:yaml.org,2002:str":
            return self._text(event, name)
        if not event.value:
            comma = name.rpartition(".")[2].isdecimal()
            remedy = (
                "write numbers with a point, not a comma" if comma else "add one, or indent its keys below it"
            )
            self._fail(event, f"{name} has no value; {remedy}")
        return scalar(event.value)

    def _items(self) -> Iterator[tuple[str, yaml.Event]]:
        """Yield each key of the current mapping with the first YAML event of its value."""
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                return
            if isinstance(event, yaml.AliasEvent):
                pattern = f"*{event.anchor}"
                self._fail(
                    event, f"a key that begins with * must be in quotes, got {pattern}; write '{pattern}'"
                )
            if not isinstance(event, yaml.ScalarEvent) or not event.value:
                self._fail(event, "a key must be text")
            yield self._text(event, "a key"), next(self._events)

    def _text(self, event: yaml.ScalarEvent, name: str) -> str:
        """Return the text of a scalar; reject null characters and lone surrogates, which rcl cannot store."""
        try:
            check_characters(event.value)
        except ValueError as error:
            self._fail(event, f"{name} {error}")
        return event.value

    def _fail(self, event: yaml.Event, message: str) -> NoReturn:
        raise ConfigError(f"{self._source}: line {event.start_mark.line + 1}: {message}")

"""Reads a ROS 2 parameter file exactly as ``rcl`` does, without ROS.

``rcl_yaml_param_parser`` is not quite YAML 1.1 nor 1.2: it works on parser events, takes plain scalars for a boolean, then for
C's ``strtol``, then for ``strtod``, and has no null. Following it event by event is what makes the node and the core read the
same values from one file. What rcl refuses, or takes and garbles, is refused here with the line and what to write instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tactile_sim.errors import ConfigError

Value = bool | int | float | str | list[bool] | list[int] | list[float] | list[str]

_TRUE = {"Y", "y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}
_FALSE = {"N", "n", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}
_DOTTED_FLOAT = re.compile(r"\.(nan|NaN|NAN)|[+-]?\.(inf|Inf|INF)")
_INTEGER = re.compile(r"\s*[+-]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_DECIMAL = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"\s*[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)([pP][+-]?[0-9]+)?")
_WORD_FLOAT = re.compile(r"\s*[+-]?(inf|infinity|nan(\(\w*\))?)", re.IGNORECASE)
_NODE_LEVEL = "ros__parameters"


def read(path: Path, source: str, node: str = "/tactile_sim") -> dict[str, Value]:
    """The parameters a file gives to a node, by full name (``skin.scales.cube``).

    Args:
        path: the file.
        source: how errors call it.
        node: the node's full name; sections ``/**``, ``tactile_sim``, ``/*/tactile_sim`` ... are matched as rcl does.

    Raises:
        ConfigError: the file is missing, unreadable, not UTF-8, not YAML, not a parameter file, or not for this node.
    """
    sections = _Reader(_text(path, source), source).sections()
    matching = [parameters for name, parameters in sections if _applies(name, node)]
    if not matching:
        there = ", ".join(dict.fromkeys(repr(name) for name, _ in sections))
        raise ConfigError(
            f"{source}: no parameters for the node {node}: "
            + (f"the file has them for {there}; " if there else "the file is empty; ")
            + f"write them below '/**:' and '{_NODE_LEVEL}:'"
        )
    return {name: value for parameters in matching for name, value in parameters.items()}


def scalar(text: str) -> bool | int | float | str:
    """The value of a plain (unquoted) scalar: rcl's ``get_value``."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if _INTEGER.fullmatch(text):
        digits = text.strip()
        octal = re.fullmatch(r"([+-]?)0([0-7]+)", digits)
        number = int(octal[1] + octal[2], 8) if octal else int(digits, 0)
        if -(2**63) <= number < 2**63:
            return number
    if _DOTTED_FLOAT.fullmatch(text):
        return float(text.replace(".", ""))
    if _DECIMAL.fullmatch(text):
        number = float(text)
        # strtod reports ERANGE for these, and rcl then keeps the text.
        out_of_range = math.isinf(number) or (abs(number) < 2.2250738585072014e-308 and re.search(r"[1-9]", re.split("[eE]", text)[0]))
        return text if out_of_range else number
    if _HEXADECIMAL.fullmatch(text):
        return float.fromhex(text)
    if _WORD_FLOAT.fullmatch(text):
        return float(text.split("(")[0])
    return text


def _text(path: Path, source: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{source}: no such file") from None
    except IsADirectoryError:
        raise ConfigError(f"{source}: is a folder, not a YAML file") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise ConfigError(f"{source}: line {line} is not UTF-8; save the file in that encoding") from None
    except OSError as error:
        raise ConfigError(f"{source}: cannot be read: {error.strerror or error}") from None


def _applies(section: str, node: str) -> bool:
    """Whether a section of that name is for the node: ``*`` stands for one token, ``**`` for any number."""
    name = section if section.startswith("/") else "/" + section
    pattern = re.escape(name).replace(r"/\*\*", r"(/\w+)*").replace(r"/\*", r"/\w+")
    return re.fullmatch(pattern, node) is not None


@dataclass
class _Reader:
    """One pass over the YAML events of a file."""

    text: str
    source: str

    def sections(self) -> list[tuple[str, dict[str, Value]]]:
        """Sections (node name, parameters by full name) in the order of the file."""
        found: list[tuple[str, dict[str, Value]]] = []
        try:
            self._events = yaml.parse(self.text, Loader=yaml.SafeLoader)
            for event in self._events:
                if isinstance(event, yaml.MappingStartEvent):
                    found += self._nodes("")
                elif isinstance(event, yaml.CollectionStartEvent | yaml.AliasEvent):
                    self._fail(event, f"the top has to be a mapping: '/**:', below it '{_NODE_LEVEL}:'")
                elif isinstance(event, yaml.ScalarEvent) and event.value:
                    self._fail(event, f"{event.value[:40]!r} where a mapping has to be: '/**:', below it '{_NODE_LEVEL}:'")
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "somewhere"
            raise ConfigError(f"{self.source}: {where}: not YAML: {error.problem or error.context}") from None
        except yaml.YAMLError as error:
            raise ConfigError(f"{self.source}: not YAML: {' '.join(str(error).split())}") from None
        return found

    def _nodes(self, namespace: str) -> Iterator[tuple[str, dict[str, Value]]]:
        """Sections of a mapping above the parameters; names nest: ``ns: {tactile_sim: {ros__parameters: ...}}``."""
        for key, event in self._items():
            if not isinstance(event, yaml.MappingStartEvent):
                self._fail(
                    event,
                    f"{key!r} stands above the parameters: write '/**:', below it '{_NODE_LEVEL}:', below that {key!r}",
                )
            if key != _NODE_LEVEL:
                yield from self._nodes(f"{namespace}/{key}" if namespace and not namespace.endswith("/") else namespace + key)
            elif not namespace:
                self._fail(event, f"'{_NODE_LEVEL}:' needs a node name above it, such as '/**:'")
            else:
                parameters: dict[str, Value] = {}
                self._parameters("", parameters)
                yield namespace, parameters

    def _parameters(self, prefix: str, into: dict[str, Value]) -> None:
        empty = True
        for key, event in self._items():
            empty = False
            name = prefix + key
            if isinstance(event, yaml.MappingStartEvent):
                if prefix and "." in key:
                    self._fail(event, f"{name}: rcl garbles a mapping below a key with a dot; write '{name}.KEY: VALUE' at the top")
                self._parameters(name + ".", into)
                continue
            if name in into:
                self._fail(event, f"{name} is given twice")
            if isinstance(event, yaml.SequenceStartEvent):
                into[name] = self._sequence(name)
            else:
                into[name] = self._scalar(event, name)
        if empty and prefix:
            raise ConfigError(f"{self.source}: {prefix[:-1]} is an empty mapping, which rcl refuses; leave the key out")

    def _sequence(self, name: str) -> Value:
        values: list = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            if not isinstance(event, yaml.ScalarEvent):
                self._fail(event, f"{name}: a list may hold plain values only")
            values.append(self._scalar(event, name))
            if type(values[-1]) is not type(values[0]):
                kinds = f"{values[0]!r} and {values[-1]!r}"
                self._fail(event, f"{name}: a list has to hold values of one type, but has {kinds}")
        if not values:
            raise ConfigError(f"{self.source}: {name} is an empty list, which rcl has no type for; leave the key out")
        return values

    def _scalar(self, event: yaml.Event, name: str) -> bool | int | float | str:
        if not isinstance(event, yaml.ScalarEvent):
            self._fail(event, f"{name}: rcl takes no aliases (*{event.anchor}); write the value out")
        if event.style in ("'", '"') or event.tag == "tag:yaml.org,2002:str":
            return event.value
        if not event.value:
            self._fail(event, f"{name} has no value; leave the key out for its default")
        return scalar(event.value)

    def _items(self) -> Iterator[tuple[str, yaml.Event]]:
        """Keys of the mapping just begun, each with the first event of its value."""
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                return
            if not isinstance(event, yaml.ScalarEvent) or not event.value:
                self._fail(event, "a key has to be a plain word")
            yield event.value, next(self._events)

    def _fail(self, event: yaml.Event, message: str) -> None:
        raise ConfigError(f"{self.source}: line {event.start_mark.line + 1}: {message}")

"""Message templates align the fields of any type."""

import numpy as np
import pytest

from tactile_sim.ros.cdr import (
    IntColumn,
    Lookup,
    MessageTemplate,
    Payload,
    Repeat,
    RowRange,
    Value,
    encode_struct,
)
from tactile_sim.wire import PRIMITIVES, Sequence, String, Struct

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
THING = Struct("test/Thing", (("flag", PRIMITIVES["octet"], 0), ("x", PRIMITIVES["double"], 0.0)))
LOOSE = Struct(
    "test/Loose",
    (
        ("bytes", Sequence(PRIMITIVES["uint8"]), ()),
        ("real", PRIMITIVES["double"], 0.0),
        ("flag", PRIMITIVES["boolean"], False),
        *((name, PRIMITIVES[name], 0) for name in INTEGERS),
        ("single", PRIMITIVES["float"], 0.0),
        ("numbers", Sequence(PRIMITIVES["double"]), ()),
        ("thing", THING, None),
        ("text", String(), ""),
    ),
)
"""A type with numbers of every size at every alignment."""


@pytest.mark.parametrize("size", range(17))
@pytest.mark.parametrize("key", [0, 1, 127, -1, -128, 2**31 - 1, -(2**31)])
def test_numbers_of_all_sizes_stay_aligned_after_byte_payload(size, key):
    things = [{"flag": 1, "x": 0.5}, {"flag": 2, "x": -0.5}]
    placeholders = {name: IntColumn(k) for k, name in enumerate(("flag", *INTEGERS))}
    template = MessageTemplate(
        LOOSE,
        placeholders
        | {"bytes": Payload(), "real": Value(0), "single": Value(1), "numbers": RowRange(9, 10)}
        | {"thing": Lookup(9, things), "text": "end"},
    )
    # Clamped to the range of each type.
    given = [max(np.iinfo(name).min, min(np.iinfo(name).max, key)) for name in INTEGERS]
    keys = np.array([[key % 2, *given, 1, 2]], np.int32)
    data = np.arange(size, dtype=np.uint8)
    value = dict(zip(placeholders, [bool(key % 2), *given], strict=True)) | {
        "bytes": data, "real": 0.1, "single": 0.1, "numbers": [2.0, 3.0], "thing": things[1], "text": "end",
    }  # fmt: skip
    made = template.fill(0, keys, np.array([[0.1, 0.1]]), np.arange(1.0, 4.0)[:, None], data)
    assert made == encode_struct(LOOSE, value)


@pytest.mark.parametrize("sizes", [(0, 3), (5, 0), (7, 2)])
def test_several_payloads_around_repeat_equal_encoder_output(sizes):
    fields = (
        ("bytes", Sequence(PRIMITIVES["uint8"]), ()),
        ("things", Sequence(THING), ()),
        ("doubles", Sequence(PRIMITIVES["double"]), ()),
        ("shorts", Sequence(PRIMITIVES["int16"]), ()),
    )
    kind = Struct("test/Several", fields)
    payloads = dict.fromkeys(("bytes", "doubles", "shorts"), Payload())
    template = MessageTemplate(kind, payloads | {"things": Repeat({"flag": 1, "x": Value(0)})})
    data = np.arange(sizes[0], dtype=np.uint8), np.arange(sizes[1]) - 0.5, np.arange(3, dtype=np.int16)
    xs = np.linspace(-1.0, 1.0, 9)[:, None]
    value = dict(zip(("bytes", "doubles", "shorts"), data, strict=True))
    things = [{"flag": 1, "x": x} for x in xs[:, 0]]
    made = template.fill(0, values=xs, data=data)
    assert made == encode_struct(kind, value | {"things": things})

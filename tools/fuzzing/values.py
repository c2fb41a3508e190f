"""Generate invalid values, names, addresses and files, used by all generators."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

NUMBERS = (
    "0", "-0.0", "-1", "1", "1e-320", "5e-324", "1e-100", "1e-30", "1e-6", "0.3", "7.5", "1e6", "1e9", "1e15",
    "1e30", "1e100", "1e200", "1e308", "1.7976931348623157e308", "-1e308", "1e400", ".inf", "-.inf", ".nan",
    "inf", "nan", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "18446744073709551616", "0x7f", "0o17", "017", "1_000", "+3", "1e", "0x", "--1", "1.2.3", "2147483648",
    "65536", "-2147483649",
)  # fmt: skip
TEXTS = (
    "", " ", ".", "..", "/", "~", "~nobody_here", "null", "true", "off", "cube", "*", "?", "[", "[!]", "[a-",
    "[z-a]", "**", "***" * 20 + "b", "a" * 250, "a" * 100_000, "b c " * 30_000, "é" * 300, "\u202e", "\ufeff",
    "\x07", "\x1b[31m", "a\nb", "a\0b", "\ud800", "\U0010ffff", "%s%n", "{geom}", "{0.__class__}", "$(x)",
    "`x`", "'", '"', "\\", "a/b", "a.b.c", "body1", "world", "-", "--", "0", "0x10", "None",
)  # fmt: skip
ADDRESSES = (
    "file://[::1/x", "file://[", "file:///", "file://%00", "file:///dev/zero", "file://localhost/%zz",
    "file://a/b", "package://", "package:///", "package://tactile_sim", "package://tactile_sim/../../x",
    "package://\0/x", "package://none/x.xml", "http://127.0.0.1/x.xml", "ftp://x", "://", "x://y",
    "/dev/zero", "/dev/null", "/dev/full", "/proc/self/mem", "/proc/self/environ", "/", ".", "..", "", "~",
    "~root", "~nobody_here/x", "a/" * 3000 + "x.xml", "x" * 300, "x" * 10_000, "a\0b.xml", "\ud800.xml",
    "fifo", "loop", "dangling", "folder", "sparse", "empty", "noise",
)  # fmt: skip
SPECIAL = ("fifo", "loop", "dangling", "zero", "full", "folder", "sparse", "empty", "noise")
"""Kinds of files that `special_file` creates."""


def special_file(random: Random, path: Path, kind: str) -> None:
    """Create a special file, such as a FIFO, a link to a device or a sparse file."""
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "sparse":
        path.touch()
        os.truncate(path, 1 << random.choice([24, 27, 30, 36]))
    elif kind in ("empty", "noise"):
        path.write_bytes(random.randbytes(0 if kind == "empty" else random.choice([1, 100, 100_000])))
    else:
        path.symlink_to({"loop": path.name, "dangling": "nowhere"}.get(kind, f"/dev/{kind}"))


def text(random: Random) -> str:
    """Return an unusual string."""
    kind = random.random()
    if kind < 0.6:
        return random.choice(TEXTS)
    if kind < 0.8:
        return random.choice(ADDRESSES)
    if kind < 0.9:
        return random.choice(NUMBERS)
    return "".join(chr(random.choice([random.randrange(128), random.randrange(0xD800)])) for _ in range(9))


def damaged(random: Random, data: bytes) -> bytes:
    """Return the data with a few random changes: flipped bits, and removed, replaced or added bytes."""
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        start = random.randrange(len(changed) + 1)
        stop = min(len(changed), start + random.choice([1, 1, 4, 30, 400]))
        kind = random.randrange(6)
        if kind == 0:
            del changed[start:stop]
        elif kind == 1:
            changed[start:stop] = random.randbytes(stop - start)
        elif kind == 2:
            changed[start:start] = changed[start:stop] * random.choice([1, 2, 500])
        elif kind == 3:
            changed[start:start] = random.choice(_PIECES)
        elif kind == 4 and start < stop:
            changed[start] ^= 1 << random.randrange(8)
        else:
            del changed[start:]
    return bytes(changed)


_PIECES = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\t", b"\n", b" ", b"'", b'"', b"<", b">", b"&",
    b"&a;", b"<!--", b"-->", b"<?", b"<!DOCTYPE", b"]]>", b"{", b"}", b"[", b"]", b":", b"- ", b"#", b"*a",
    b"&a ", b"!!python/name:os ", b"%YAML 9.9\n---\n", b"---\n", b"...\n", b"|\n", b"? ", b"1e400", b"nan",
    b"-1", b"99999999999", b"{" * 3000, b"[" * 30_000, b"<!--" * 20_000, b"<a" * 20_000, b"<a>" * 20_000,
    b"- " * 30_000, b"a: " * 3000, b"\xed\xa0\x80",
)  # fmt: skip

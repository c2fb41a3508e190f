"""Test access to files that users specify: rejected kinds of files, and the error messages."""

import errno
import os
import time
from pathlib import Path

import pytest

from tactile_sim.common.errors import LONGEST_MESSAGE, LONGEST_VALUE, SceneError, readable
from tactile_sim.common.files import check_file, read_file


@pytest.fixture
def special(tmp_path):
    """Return a folder with a FIFO, a link to a device, a folder, a link to itself and a 1 TiB sparse file."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 1 << 40)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("fifo", errno.EINVAL),
        ("device", errno.EINVAL),
        ("folder", errno.EISDIR),
        ("loop", errno.ELOOP),
        ("sparse", errno.EFBIG),
        ("missing", errno.ENOENT),
        ("a\0b", errno.EINVAL),
        ("\ud800", errno.EINVAL),
    ],
)
def test_only_regular_files_of_limited_size_are_opened(special, name, code):
    for function in (check_file, read_file):
        with pytest.raises(OSError) as error:
            function(special / name, 100)
        assert error.value.errno == code
        assert error.value.strerror


def test_files_without_a_size_are_read_up_to_the_limit():
    environment = Path("/proc/self/environ")
    assert os.stat(environment).st_size == 0
    with pytest.raises(OSError) as error:
        read_file(environment, 1)
    assert error.value.errno == errno.EFBIG


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "'" + "a b " * 100_000 + "'", "\x1b[31m\n\ud800\u202e", "' " * 500_000]
)
def test_errors_are_short_printable_lines(text):
    begin = time.process_time()
    line = str(SceneError(f"scene: no body named {text}"))
    assert time.process_time() - begin < 1.0
    assert line.isprintable()
    assert line.startswith("scene: no body named ")
    assert len(line) <= LONGEST_MESSAGE


def test_long_value_is_cut_in_the_middle():
    value = "b" + "e" * 10_000 + "d"
    line = readable(f"cube: must be short, got '{value}'; shorten it")
    assert line.startswith("cube: must be short, got 'be")
    assert line.endswith("ed'; shorten it")
    assert len(line) <= LONGEST_VALUE + len("cube: must be short, got ; shorten it")


def test_short_message_is_unchanged():
    assert readable("skin.scales.café: must be > 0 m, got 0") == "skin.scales.café: must be > 0 m, got 0"

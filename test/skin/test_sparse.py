"""Arrays that take memory only where they are written."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from tactile_sim.skin.sparse import sparse_zeros

SIZE = 64 << 20


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_few_written_elements_take_few_pages():
    before = resident()
    zeros = sparse_zeros((SIZE >> 20, 1 << 17), float)
    zeros[:, 0] = 1.0
    assert resident() - before < SIZE // 8
    assert zeros.sum() == SIZE >> 20 and zeros.dtype == float


@pytest.mark.parametrize("shape", [(0, 3), (2, 0, 3), (3, 5)])
def test_shape_type_and_zeros(shape):
    zeros = sparse_zeros(shape, np.int32)
    assert zeros.shape == shape and zeros.dtype == np.int32 and not zeros.any()
    assert zeros.flags.writeable and zeros.flags.c_contiguous

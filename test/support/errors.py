"""Assertions about errors that do not depend on the wording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def raises(error: type[Exception], *facts: str) -> Iterator[pytest.ExceptionInfo]:
    """Expect a one-line error that contains all facts, such as the key, the value and the nearest name."""
    with pytest.raises(error) as info:
        yield info
    text = str(info.value)
    missing = [fact for fact in facts if fact not in text]
    assert not missing, f"{text!r} does not name {missing}"
    assert "\n" not in text

"""YAML from a bag, which anybody may have written: limited in size and depth."""

from __future__ import annotations

from typing import Any

import yaml

DEEPEST = 50
_MOST_CHARACTERS = 16 << 20
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(text: str) -> Any:
    """Return the value of a YAML document.

    Raises:
        ValueError: The text is not YAML, or is longer or nested more deeply than a bag's metadata can be.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"must have at most {_MOST_CHARACTERS} characters, got {len(text)}")
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise ValueError(f"must be nested at most {DEEPEST} deep")
        return yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, TypeError, OverflowError) as error:
        raise ValueError(" ".join(str(error).split())) from None

"""Parse YAML from bags, which are untrusted input, with limits on its size and depth."""

from __future__ import annotations

from typing import Any

import yaml

DEEPEST = 50
_MOST_CHARACTERS = 16 << 20
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(text: str) -> Any:
    """Parse a YAML document and return its value."""
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

"""Check that the topics of pads, bodies and cameras have distinct names."""

from __future__ import annotations

from collections.abc import Iterable

from tactile_sim.errors import ConfigError
from tactile_sim.names import topic_token


def check_topics(
    pads: Iterable[str],
    where: str,
    topic: str = "tactile",
    remedy: str = "rename one, or leave one without skin or feelers",
) -> None:
    """Check that names stay distinct after replacing the characters that topics do not allow.

    Args:
        pads: Distinct names of pads, of bodies with feelers, or of cameras.
        where: Prefix for error messages (file and key).
        topic: First part of the topics.
        remedy: End of the error message.

    Raises:
        ConfigError: Two names would share a topic.
    """
    taken: dict[str, str] = {}
    for pad in sorted(pads):
        token = topic_token(pad)
        if token in taken:
            raise ConfigError(
                f"{where}: {taken[token]!r} and {pad!r} would share the topic '{topic}/{token}'; {remedy}"
            )
        taken[token] = pad

"""Check that no two bodies share a topic."""

from __future__ import annotations

from collections.abc import Iterable

from tactile_sim.errors import ConfigError
from tactile_sim.names import topic_token


def check_topics(bodies: Iterable[str], where: str) -> None:
    """Check that the names of bodies give different topics.

    Args:
        bodies: Names of bodies.
        where: The beginning of the error: file and key.

    Raises:
        ConfigError: Two bodies would share a topic.
    """
    taken: dict[str, str] = {}
    for body in sorted(bodies):
        token = topic_token(body)
        if token in taken:
            raise ConfigError(
                f"{where}: the bodies {taken[token]!r} and {body!r} would share the topic 'tactile/{token}';"
                " rename one in the scene, or leave one without touch"
            )
        taken[token] = body

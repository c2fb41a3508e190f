"""Read the files in `requirements/` and find the distributions that they need."""

from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REQUIREMENTS = Path(__file__).parents[2] / "requirements"


def lines(path):
    """Return the lines of a requirements file without comments and blank lines."""
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def closure(requirements):
    """Return the distributions that these requirements need, directly or indirectly."""
    found, todo = {}, [Requirement(line) for line in requirements]
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        if name not in found and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
            found[name] = distribution(requirement.name)
            todo += [Requirement(line) for line in found[name].requires or []]
    return found.values()

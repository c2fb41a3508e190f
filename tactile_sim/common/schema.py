"""Checks of values from configurations and of arguments, and declaration of settings by these checks.

A check is a function or a callable object. It receives the user's value and returns the converted value. For
an invalid value, it raises a ValueError with the requirement, the value and the remedy. `valid` applies one
to an argument of the Python interface; other functions check arguments that are arrays.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from tactile_sim.common.errors import CommandError, TactileSimError, suggest

Check = Callable[[Any], Any]
"""Function that converts a valid value from a user, or raises a ValueError for an invalid value."""


def shown(value: Any) -> str:
    """Format a user's value with its type, for an error message."""
    if value is None:
        return "null"
    kinds: list[tuple[type, str]] = [
        (bool, "a boolean"),
        (Integral, "an integer"),
        (Real, "a number"),
        (str, "text"),
        (dict, "a mapping"),
        (list | tuple, "a list"),  # type: ignore[list-item]
    ]
    kind = next((name for type_, name in kinds if isinstance(value, type_)), type(value).__name__)
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({kind})"


def check_characters(text: str) -> None:
    """Raise a ValueError for text that a C string cannot store, with null characters or lone surrogates."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(f"must have neither null characters nor surrogates, got {text!r}")


@dataclass(frozen=True)
class Flag:
    """Check for a boolean, ``true`` or ``false``."""

    def __call__(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"must be true or false, got {shown(value)}")
        return value


LARGEST = 1e9
"""Default upper bound of a number, in its SI unit. Its square and cube are far from overflow."""


@dataclass(frozen=True)
class Number:
    """Check for a number between two bounds. Integers are valid; NaN is not.

    The bounds ``least`` and ``most`` are inclusive; ``above`` is an exclusive lower bound. Without a lower
    bound, -``most`` is used. Numbers between 0 and ``smallest`` (both exclusive) are rejected. Magnitudes
    outside of ``usual`` are valid, but implausible unless they are 0; see `implausible`.
    """

    least: float | None = None
    above: float | None = None
    most: float = LARGEST
    unit: str = ""
    smallest: float = 0.0
    usual: tuple[float, float] = (0.0, math.inf)

    def __call__(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError(f"must be {self}, got {shown(value)}")
        try:
            number = float(value)
        except OverflowError:  # an integer of hundreds of digits
            number = -math.inf if value < 0 else math.inf
        high_enough = number > self.above if self.above is not None else number >= self._least
        if not high_enough or not number <= self.most:
            limit = f", at most {self.most:g}" if self.most == LARGEST < number < math.inf else ""
            raise ValueError(f"must be {self}{limit}, got {number:g}")
        if 0.0 < number < self.smallest:
            raise ValueError(f"must be 0 or at least {self.smallest:g}, got {number:g}")
        return number

    @property
    def _least(self) -> float:
        return -self.most if self.least is None else self.least

    def __str__(self) -> str:
        bound = f" of at least {self.least:g}" if self.least is not None else ""
        bound = f" above {self.above:g}" if self.above is not None else bound
        bound += f" and at most {self.most:g}" if self.most != LARGEST else ""
        return f"a finite number{bound}{f' [{self.unit}]' if self.unit else ''}"


@dataclass(frozen=True)
class Integer:
    """Check for an integer between two inclusive bounds."""

    least: int
    most: int

    def __str__(self) -> str:
        return f"an integer from {self.least} to {self.most}"

    def __call__(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise ValueError(f"must be {self}, got {shown(value)}")
        if not self.least <= int(value) <= self.most:
            raise ValueError(f"must be {self}, got {value}")
        return int(value)


@dataclass(frozen=True)
class Text:
    """Check for text, which must not be blank if ``filled`` is set."""

    filled: bool = False

    def __call__(self, value: Any) -> str:
        if not isinstance(value, str):
            remedy = "give one" if isinstance(value, list | tuple) else "put it in quotes"
            raise ValueError(f"must be text, got {shown(value)}; {remedy}")
        if self.filled and not value.strip():
            raise ValueError("must be text, got an empty string")
        check_characters(value)
        return value


@dataclass(frozen=True)
class Frame:
    """Check for a TF frame name or frame prefix without a leading slash."""

    filled: bool = False

    def __call__(self, value: Any) -> str:
        text = Text(self.filled)(value)
        if text.startswith("/"):
            raise ValueError(f"must be a TF frame without a leading slash, got {text!r}")
        return text


@dataclass(frozen=True)
class Texts:
    """Check for a list of strings. If ``words`` is not empty, only these words are valid."""

    words: tuple[str, ...] = ()

    def __call__(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
            example = ", ".join(self.words[:2]) or "first, second"
            raise ValueError(f"must be a list of names, such as [{example}], got {shown(value)}")
        for entry in value:
            check_characters(entry)
            if self.words and entry not in self.words:
                raise ValueError(f"must not contain {entry!r}{suggest(entry, self.words)}")
        return tuple(value)


@dataclass(frozen=True)
class Integers:
    """Check for a list of integers with a common lower bound."""

    least: int

    def __call__(self, value: Any) -> tuple[int, ...]:
        # rclpy gives an array.
        listed = isinstance(value, list | tuple | array)
        if not listed or not all(
            isinstance(entry, Integral) and not isinstance(entry, bool) for entry in value
        ):
            raise ValueError(f"must be a list of integers, such as [0, 7], got {shown(value)}")
        if any(entry < self.least for entry in value):
            raise ValueError(f"must be integers >= {self.least}, got {min(value)}")
        return tuple(int(entry) for entry in value)


@dataclass(frozen=True)
class Numbers:
    """Check for a list of numbers with common bounds.

    ``lengths`` contains the valid lengths of the list. If it is empty, any length is valid.
    """

    each: Number = field(default_factory=Number)
    lengths: tuple[int, ...] = ()

    def __str__(self) -> str:
        unit = f" [{self.each.unit}]" if self.each.unit else ""
        return f"a list of {' or '.join(map(str, self.lengths))} numbers{unit}".replace("  ", " ")

    def __call__(self, value: Any) -> tuple[float, ...]:
        # rclpy gives an array.
        if not isinstance(value, list | tuple | array) or self.lengths and len(value) not in self.lengths:
            raise ValueError(f"must be {self}, got {shown(value)}")
        return tuple(self.each(entry) for entry in value)


@dataclass(frozen=True)
class Ranged:
    """Check for a number, or for a range [low, high] from which a number will be drawn at random."""

    number: Number

    def __call__(self, value: Any) -> float | tuple[float, float]:
        if not isinstance(value, list | tuple | array):
            return self.number(value)
        if len(value) != 2:
            raise ValueError(f"must be one number or a range [low, high], got {shown(value)}")
        low, high = (self.number(entry) for entry in value)
        if low > high:
            raise ValueError(f"must be a range [low, high] with low <= high, got {shown(value)}")
        return low, high


@dataclass(frozen=True)
class Scalar:
    """Check for text, a number or a boolean, which is converted to text in YAML notation."""

    def __call__(self, value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, str | int | float):
            raise ValueError(f"must be text or a number, got {shown(value)}")
        return Text()(str(value))


@dataclass(frozen=True)
class Choice:
    """Check for one of several words.

    ``words`` can be a table to which users add their own words. The words in ``later`` are rejected, because
    they are reserved for a future version.
    """

    words: Collection[str]
    later: tuple[str, ...] = ()

    def __call__(self, value: Any) -> str:
        # A plain `off` in YAML is the boolean false.
        word = "off" if value is False and "off" in self.words else value
        if not isinstance(word, str):
            raise ValueError(f"must be one of {', '.join(self.words)}, got {shown(value)}")
        if word in self.words:
            return word
        if word in self.later:
            raise ValueError(f"{word!r} is not available yet in this version; use {', '.join(self.words)}")
        raise ValueError(f"must be one of the known names, got {word!r}{suggest(word, self.words)}")

    def __str__(self) -> str:
        return f"one of {', '.join(self.words)}"


def implausible(check: Check, value: Any) -> str:
    """Return why a valid value is implausible, such as a wrong unit; empty if it is plausible."""
    number = check.number if isinstance(check, Ranged) else check
    number = number.each if isinstance(number, Numbers) else number
    if not isinstance(number, Number):
        return ""
    low, high = number.usual
    for each in value if isinstance(value, tuple) else (value,):
        if each and not low <= abs(each) <= high:
            unit = f" {number.unit}" if number.unit else ""
            return f"{each:g}{unit} is outside the usual range, {low:g} to {high:g}{unit}; check the unit"
    return ""


SHARE = Number(least=0, most=1)
SLOWEST = 1e-6
"""Minimum rate other than 0 [Hz]."""
SPACING = Number(above=0, most=1e3, unit="m", usual=(1e-4, 0.5))
TIME_CONSTANT = Number(above=0, unit="s", usual=(1e-4, 3600.0))
DURATION = Number(least=0, unit="s", usual=(1e-4, 3600.0))
SCATTER = Number(least=0, usual=(1e-6, 1.0))
"""Relative standard deviation."""
SEED = Integer(0, 2**63 - 1)


def parameter(check: Check, doc: str, default: Any = MISSING, live: bool = False, name: str = "") -> Any:
    """Declare a setting as a dataclass field.

    Args:
        check: Check for the values.
        doc: Description that users see, without a final period.
        default: Default value; without one, the setting is required.
        live: Whether it can be changed while the simulation runs.
        name: Key in the configuration if it is not the name of the field, such as ``grid.rows``.
    """
    return field(default=default, metadata={"check": check, "doc": doc, "live": live, "name": name})


def table(check: Check, doc: str = "", default: Any = MISSING) -> Any:
    """Declare a table with user-defined keys, each with one value, as a dataclass field.

    With a default, there may be one value instead of the table.
    """
    if default is MISSING:
        return field(default_factory=dict, metadata={"table": check})
    metadata = {"check": check, "doc": doc, "live": False, "name": "", "table": check}
    return field(default=default, metadata=metadata)


def records(entries: type | Mapping[str, Check]) -> Any:
    """Declare a table with user-defined keys, each with a group of keys, as a dataclass field.

    Args:
        entries: Dataclass that declares the keys of a group, or their checks. Keys have one level (``kp``) or
            two (``noise.std``).
    """
    checks_of_group = entries if isinstance(entries, Mapping) else checks(entries)
    return field(default_factory=dict, metadata={"record": checks_of_group})


def checks(settings: type) -> dict[str, Check]:
    """Return the check of each field of a dataclass by key. `parameter` must create all fields."""
    return {entry.metadata.get("name") or entry.name: entry.metadata["check"] for entry in fields(settings)}


@dataclass(frozen=True)
class Key:
    """Declaration of a plain configuration key, which has a fixed name."""

    name: str
    """Full name, such as ``rates.tactile``."""
    default: Any
    """Default value, or None if there is none."""
    check: Check
    doc: str
    live: bool
    """True if the key can be changed while the simulation runs."""


def declared(settings: type, prefix: str = "") -> Iterator[tuple[str, Field]]:
    """Yield the full names and fields of a settings dataclass, including nested ones."""
    for entry in fields(settings):
        if is_dataclass(entry.default_factory):
            yield from declared(entry.default_factory, f"{prefix}{entry.name}.")
        elif entry.metadata:
            yield prefix + entry.name, entry


def plain_keys(settings: type, prefix: str = "") -> dict[str, Key]:
    """Return the plain keys of a settings dataclass, keyed by full name (prefix and field names)."""
    return {
        name: Key(name, entry.default, *(entry.metadata[part] for part in ("check", "doc", "live")))
        for name, entry in declared(settings, prefix)
        if "check" in entry.metadata
    }


LARGEST_STATE = 1e10
"""Exclusive upper limit of valid magnitudes. MuJoCo treats states with larger ones as unstable (mjMAXVAL)."""
MOST = 2**31 - 1
"""Largest valid integer; engines use 32-bit indices."""
MOST_SHOWN = 8
"""Largest number of elements of an array whose values an error message shows."""
FLOATS = np.dtype(np.float64), np.dtype(np.float32)
"""Floating-point types that compiled functions read and write."""


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer (a boolean is not)."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_index(value: Any, count: int) -> bool:
    """Return whether a value is an integer from 0 to count - 1."""
    return is_integer(value) and 0 <= value < count


def whole(
    name: str, value: Any, least: int = 0, most: int = MOST, error: type[TactileSimError] = CommandError
) -> int:
    """Return ``value`` as an integer from ``least`` to ``most``."""
    if not is_integer(value) or not least <= value <= most:
        limited = most != MOST or is_integer(value) and value > most
        bounds = f"from {least} to {most}" if limited else f">= {least}"
        raise error(f"{name}: must be an integer {bounds}, got {value!r}")
    return int(value)


def indices(name: str, value: Any, count: int) -> list[int]:
    """Return ``value`` as a list of integers from 0 to count - 1."""
    listed = isinstance(value, Sequence) or isinstance(value, np.ndarray) and value.ndim == 1
    if not listed or not all(is_index(entry, count) for entry in value):
        raise CommandError(f"{name}: must be a sequence of indices from 0 to {count - 1}, got {value!r}")
    return [int(entry) for entry in value]


def valid(name: str, value: Any, check: Check, error: type[TactileSimError] = CommandError) -> Any:
    """Validate ``value`` with a check from `tactile_sim.common.schema`, and return the converted value."""
    try:
        return check(value)
    except ValueError as fault:
        raise error(f"{name}: {fault}") from None


def as_array(value: Any) -> np.ndarray:
    """Convert real numbers to a new float64 array; return an array of shape (0, 0, 0) for other values.

    Masked arrays are other values, because the values that they mask have no meaning.
    """
    try:
        array = np.asarray([None] if isinstance(value, np.ma.MaskedArray) else value)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths, or a tensor on a GPU
        array = np.empty(0, object)
    return array.astype(float) if array.dtype.kind in "iuf" else np.empty((0, 0, 0))


def as_number(value: Any) -> float:
    """Convert one real number to a float; return NaN for anything else."""
    array = as_array(value)
    return float(array) if array.shape == () else np.nan


def described(value: Any) -> str:
    """Describe a value for an error message: numeric arrays by shape, long other arrays by type and shape."""
    array = as_array(value)
    if isinstance(value, np.ma.MaskedArray):
        return f"a masked array of shape {value.shape}; use filled()"
    if isinstance(value, np.ndarray) and value.dtype.kind not in "iuf" and value.size > MOST_SHOWN:
        return f"{value.dtype} of shape {value.shape}"
    return f"shape {array.shape}" if array.ndim and array.size else repr(value)


def numbers(
    name: str,
    value: Any,
    *shape: int,
    below: float = LARGEST_STATE,
    unit: str = "",
    error: type[TactileSimError] = CommandError,
) -> np.ndarray:
    """Return ``value`` as a new array of finite numbers."""
    array = as_array(value)
    valid = np.abs(array) < below
    if array.shape != shape or not valid.all():
        wanted, got = f"finite numbers of shape {shape}" if shape else "a finite number", described(value)
        if array.shape == shape:
            place = np.argwhere(~valid)[0].tolist()
            name, got = f"{name}{place or ''}", f"{array[~valid][0]:g}"
        limit = f" below {below:g}" if below < np.inf else ""
        raise error(f"{name}: must be {wanted}{limit}{unit and f' {unit}'}, got {got}")
    return array


def require_controls(controls: np.ndarray) -> None:
    """Check the controls of actuators, which users can modify in place.

    Args:
        controls: (nu,) controls, or (n, nu) for n environments.
    """
    if not np.vdot(controls, controls) < LARGEST_STATE**2:  # faster than a comparison of each control
        numbers("ctrl", controls, *controls.shape)


def require_arrays(**arrays: tuple[Any, tuple[int, ...]]) -> None:
    """Check the arguments of compiled functions, which read them without bounds checks."""
    for name, (value, shape) in arrays.items():
        if not isinstance(value, np.ndarray) or value.shape != shape or value.dtype not in FLOATS:
            raise CommandError(f"{name}: must be an array of floats {shape}, got {described(value)}")


def float_type(name: str, value: Any) -> np.dtype:
    """Return ``value`` as a floating-point dtype, float32 or float64."""
    try:
        dtype = np.dtype(value)
    except (TypeError, ValueError):
        dtype = np.dtype(object)
    if dtype not in FLOATS:
        raise CommandError(f"{name}: must be float32 or float64, got {described(value)}")
    return dtype


def orientation(name: str, value: Any) -> np.ndarray:
    """Return ``value`` as a nonzero quaternion (4,), without normalizing it."""
    array = numbers(name, value, 4)
    if np.linalg.norm(array) < 1e-6:
        raise CommandError(
            f"{name}: must not be all zeros, got {array.tolist()}; no rotation is x: 0, y: 0, z: 0, w: 1"
        )
    return array


def distance(name: str, value: Any) -> float:
    """Return ``value`` as a distance >= 0 [m]; it may be infinite."""
    number = as_number(value)
    if not number >= 0:
        raise CommandError(f"{name}: must be a distance >= 0 m, got {value!r}")
    return number


def distance_array(name: str, value: Any, count: int) -> np.ndarray:
    """Return ``value``, one distance or several, as an array (count,) of distances >= 0 [m]."""
    array = as_array(value)
    if array.shape not in ((), (count,)) or not (array >= 0).all():
        got = value if array.ndim == 0 else array[~(array >= 0)][:1] if array.shape == (count,) else array
        raise CommandError(f"{name}: must be distances >= 0 m, one or {count}, got {described(got)}")
    return np.full(count, array)


def positions(name: str, value: Any) -> np.ndarray:
    """Return ``value`` as one position (3,) or several (m, 3) of finite numbers [m]."""
    points = as_array(value)
    if points.ndim not in (1, 2) or points.shape[-1] != 3 or not np.isfinite(points).all():
        raise CommandError(f"{name}: must be finite positions (3,) or (m, 3) [m], got {described(value)}")
    return points


def switch(name: str, value: Any) -> bool:
    """Return ``value`` as a boolean."""
    if not isinstance(value, bool | np.bool_):
        raise CommandError(f"{name}: must be True or False, got {value!r}")
    return bool(value)


def known(what: str, name: Any, names: Collection[str], error: type[TactileSimError] = CommandError) -> str:
    """Return ``name`` if it is one of ``names``."""
    if not isinstance(name, str) or name not in names:
        raise error(f"{what} {name!r}{suggest(name, names)}")
    return name


def by_name(name: str, value: Any) -> Mapping[str, Any]:
    """Return ``value`` as a mapping of names to values; None becomes an empty mapping."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise CommandError(f"{name}: must be a mapping of names to values, got {described(value)}")
    return value

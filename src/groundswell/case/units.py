"""Quantities of a case: numbers in SI units, or text such as "5 km" that is converted to SI.

`Length = Annotated[float, Unit("m", ...)]` is a float in the program and a length in the case file.
Bounds are further annotations: `Annotated[Length, Positive]`.
"""

from __future__ import annotations

import math
import re
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from numbers import Real
from typing import Annotated, Any, SupportsFloat

from annotated_types import Ge, Gt
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError, core_schema

Positive = Gt(0)
NonNegative = Ge(0)

# Only text of this form reaches the unit library, which would otherwise evaluate expressions:
# a number, then units joined by blanks, "*", "·" or "/", each with at most a one-digit power.
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_UNIT = r"[A-Za-zµμ°]+(?:(?:\^|\*\*)-?[1-9]|[²³])?"
_UNITS = rf"(?:1?\s*/\s*)?{_UNIT}(?:(?:\s*[*·/]\s*|\s+){_UNIT})*"
_TEXT = re.compile(rf"\s*(?P<number>{_NUMBER})\s*(?P<units>{_UNITS})?\s*")
_MAX_CHARACTERS = 64
# Errors of the tokenizer and the tables of pint that pint does not catch.
_PINT_ERRORS = (ArithmeticError, LookupError, TypeError, ValueError, tokenize.TokenError)


@dataclass(frozen=True)
class Accepts:
    """Annotation that describes the values of a key where the type does not.

    Args:
        text: the values in words, such as "a number of cells or a length".
        unit: SI unit of numbers; "" if they have none.
        bounds: bounds of numbers, such as "> 0".
        tables: the sections that a table may be, by the condition under which it is one.
    """

    text: str
    unit: str = ""
    bounds: str = ""
    tables: tuple[tuple[str, type[Any]], ...] = ()


@dataclass(frozen=True)
class Unit:
    """Annotation of a float that a case may give in any unit of one dimension.

    Args:
        unit: SI unit (degrees for angles) of the validated float; "" for a pure number.
        noun: the quantity with its article, for messages.
        example: valid text, for messages.
        word: word that is valid instead of a number, such as "auto".
    """

    unit: str
    noun: str = "a quantity"
    example: str = ""
    word: str | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    @property
    def expected(self) -> str:
        """Description of valid values, for messages."""
        if not self.unit:
            return f"{self.noun} without quotes, such as {self.example}"
        quoted = f'"{self.word}", or ' if self.word else ""
        return f'{quoted}{self.noun} such as "{self.example}", or a plain number in {self.unit}'

    @property
    def accepts(self) -> Accepts:
        """Description of valid values, for the reference."""
        return Accepts(f'"{self.word}" or {self.noun}' if self.word else self.noun, self.unit)

    def read(self, value: object) -> float | str:
        """Validate a value and convert it to SI.

        Raises:
            PydanticCustomError: the value is invalid.
        """
        if isinstance(value, str):
            return self._read_text(value)
        if isinstance(value, bool) or not isinstance(value, Real):
            raise self._error("is not a number")
        return self._finite(value)

    def _read_text(self, text: str) -> float | str:
        if self.word and text.strip() == self.word:
            return self.word
        match = _TEXT.fullmatch(text) if len(text) <= _MAX_CHARACTERS else None
        if match is None:
            raise self._error("is not a number with a unit" if self.unit else "is text")
        if match["units"] is None or not self.unit:
            raise self._error("has no unit" if self.unit else "is text")
        value = self._convert(float(match["number"]), " ".join(match["units"].split()))
        # Conversion factors have rounding errors; 15 digits make "2.67 g/cm^3" exactly 2670.
        return self._finite(float(f"{value:.15g}"))

    def _convert(self, number: float, units: str) -> float:
        if (factor := COMMON.get(self.unit, {}).get(units)) is not None:
            return number * factor
        from pint.errors import PintError, UndefinedUnitError

        try:
            return converter(units, self.unit)(number)
        except UndefinedUnitError:
            raise self._error(f'has the unknown unit "{units}"') from None
        except (PintError, *_PINT_ERRORS):
            raise self._error(f"is not {self.noun}") from None

    def _finite(self, value: SupportsFloat) -> float:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self._error("is not a finite number")
        return number

    def _error(self, reason: str) -> PydanticCustomError:
        text = f"{reason}; give {self.expected}"
        return PydanticCustomError("quantity", "{text}", {"text": text})


def is_quantity(text: str) -> bool:
    """Whether text is a number, with a unit or not, rather than an expression such as "2/x"."""
    match = _TEXT.fullmatch(text) if len(text) <= _MAX_CHARACTERS else None
    return match is not None and not (match["units"] or "").startswith(("1", "/"))


def _in_range(value: float) -> float:
    if value and not SMALLEST <= abs(value) <= LARGEST:
        text = f"is out of range; give a magnitude from {SMALLEST:g} to {LARGEST:g} (SI)"
        raise PydanticCustomError("quantity", "{text}", {"text": text})
    return value


# Within this range, products of several powers of quantities do not overflow double precision.
SMALLEST, LARGEST = 1e-30, 1e30
InRange = AfterValidator(_in_range)


# Factors of the units in most cases, by the SI unit. Pint knows all units, but it takes a third of
# a second to load, as long as all else that checks a small case.
COMMON = {
    "m": {"m": 1.0, "km": 1e3, "cm": 1e-2, "mm": 1e-3},
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "Hz": {"Hz": 1.0, "mHz": 1e-3, "kHz": 1e3, "MHz": 1e6},
    "m/s": {"m/s": 1.0, "km/s": 1e3},
    "m/s^2": {"g": 9.80665, "m/s^2": 1.0, "cm/s^2": 1e-2},
    "kg/m^3": {"kg/m^3": 1.0, "g/cm^3": 1e3},
    "deg": {"deg": 1.0},
    "N m": {"N m": 1.0},
    "N": {"N": 1.0},
    "Pa": {"Pa": 1.0, "kPa": 1e3, "MPa": 1e6},
}


@lru_cache(maxsize=1024)
def converter(units: str, target: str) -> Callable[[float], float]:
    """The function that converts numbers in `units` to `target`; raises errors of pint."""
    registry = _registry()
    # Pint reads "Nm" as a unit of yarn.
    plain = re.sub(r"([A-Za-z]*N)m\b", r"(\1*m)", units)
    if target == "m/s^2":  # pint reads g as the gram
        plain = re.sub(r"\bg\b", "standard_gravity", plain)
    unit = registry.parse_units(f"1{plain}" if plain[0] == "/" else plain)
    registry.Quantity(1.0, unit).to(target)
    return lambda number: float(registry.Quantity(number, unit).to(target).magnitude)


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()


Length = Annotated[float, Unit("m", "a length", "5 km")]
Time = Annotated[float, Unit("s", "a time", "0.5 s")]
Frequency = Annotated[float, Unit("Hz", "a frequency", "2.3 Hz")]
Speed = Annotated[float, Unit("m/s", "a speed", "5.5 km/s")]
Acceleration = Annotated[float, Unit("m/s^2", "an acceleration", "0.1 g")]
Density = Annotated[float, Unit("kg/m^3", "a density", "2.67 g/cm^3")]
Angle = Annotated[float, Unit("deg", "an angle", "30 deg")]
Moment = Annotated[float, Unit("N m", "a moment", "1e18 N m")]
Force = Annotated[float, Unit("N", "a force", "1e10 N")]
Pressure = Annotated[float, Unit("Pa", "a pressure", "120 MPa")]
Volume = Annotated[float, Unit("m^3", "a volume", "0.01 m^3")]
SourceStrength = Annotated[float, Unit("Pa m", "a pressure times a distance", "20 bar m")]
Number = Annotated[float, Unit("", "a plain number", "0.6")]
# More points than any machine has memory for. Up to this value, products of a few counts do not
# overflow double precision.
LARGEST_COUNT = 10**12
Count = Annotated[int, Field(strict=True, ge=1, le=LARGEST_COUNT)]
CountOrZero = Annotated[int, Field(strict=True, ge=0, le=LARGEST_COUNT)]
Flag = Annotated[bool, Field(strict=True)]

"""Quantities of a case: a plain SI number, or text such as "5 km", checked and converted to SI.

`Length = Annotated[float, Quantity("m", ...)]` is a float for the program and a length for the
user. A bound is one more annotation: `Annotated[Length, Positive]`.
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
from pydantic import Field
from pydantic_core import PydanticCustomError, core_schema

Positive = Gt(0)
NonNegative = Ge(0)

# Only text of this form reaches the unit library, which would otherwise evaluate expressions:
# a number, then units joined by blanks, "*", "·" or "/", each with at most a one-digit power.
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_UNIT = r"[A-Za-zµμ°]+(?:(?:\^|\*\*)-?[1-9]|[²³])?"
_UNITS = rf"(?:1?\s*/\s*)?{_UNIT}(?:(?:\s*[*·/]\s*|\s+){_UNIT})*"
_TEXT = re.compile(rf"\s*(?P<number>{_NUMBER})\s*(?P<units>{_UNITS})?\s*")
_LONGEST = 64
# What pint lets through of its tokenizer's and its tables' errors.
_ALSO_RAISED = (ArithmeticError, LookupError, TypeError, ValueError, tokenize.TokenError)


@dataclass(frozen=True)
class Quantity:
    """Annotation of a float that a case gives in any unit of one dimension.

    Args:
        unit: the SI unit (degrees for angles) of the validated float; "" for a pure number.
        noun: what is expected, with its article, for messages.
        example: text that would be accepted.
        word: a word accepted instead of a number and kept as it is, such as "auto".
    """

    unit: str
    noun: str = "a quantity"
    example: str = ""
    word: str | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    @property
    def expected(self) -> str:
        """What to write, for messages."""
        if not self.unit:
            return f"{self.noun} without quotes, such as {self.example}"
        quoted = f'"{self.word}", or ' if self.word else ""
        return f'{quoted}{self.noun} such as "{self.example}", or a plain number in {self.unit}'

    def read(self, value: Any) -> float | str:
        """The value in SI; raises `PydanticCustomError`, whose text says what is expected."""
        if isinstance(value, str):
            return self._read_text(value)
        if isinstance(value, bool) or not isinstance(value, Real):
            raise self._refusal("is not a number")
        return self._finite(value)

    def _read_text(self, text: str) -> float | str:
        if self.word and text.strip() == self.word:
            return self.word
        match = _TEXT.fullmatch(text) if len(text) <= _LONGEST else None
        if match is None:
            raise self._refusal("is not a number with a unit" if self.unit else "is text")
        if match["units"] is None or not self.unit:
            raise self._refusal("has no unit" if self.unit else "is text")
        value = self._convert(float(match["number"]), " ".join(match["units"].split()))
        # Unit factors carry rounding errors; 15 digits make "2.67 g/cm^3" exactly 2670.
        return self._finite(float(f"{value:.15g}"))

    def _convert(self, number: float, units: str) -> float:
        from pint.errors import PintError, UndefinedUnitError

        try:
            return converter(units, self.unit)(number)
        except UndefinedUnitError:
            raise self._refusal(f'has the unknown unit "{units}"') from None
        except (PintError, *_ALSO_RAISED):
            raise self._refusal(f"is not {self.noun}") from None

    def _finite(self, value: SupportsFloat) -> float:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self._refusal("is not a finite number")
        return number

    def _refusal(self, reason: str) -> PydanticCustomError:
        text = f"{reason}; give {self.expected}"
        return PydanticCustomError("quantity", "{text}", {"text": text})


@lru_cache(maxsize=1024)
def converter(units: str, target: str) -> Callable[[float], float]:
    """The conversion of numbers in `units` to `target`; raises pint's errors."""
    registry = _registry()
    # To pint "Nm" is the number of a yarn.
    plain = re.sub(r"([A-Za-z]*N)m\b", r"(\1*m)", units)
    unit = registry.parse_units(f"1{plain}" if plain[0] == "/" else plain)
    registry.Quantity(1.0, unit).to(target)
    return lambda number: float(registry.Quantity(number, unit).to(target).magnitude)


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()


Length = Annotated[float, Quantity("m", "a length", "5 km")]
Time = Annotated[float, Quantity("s", "a time", "0.5 s")]
Frequency = Annotated[float, Quantity("Hz", "a frequency", "2.3 Hz")]
Speed = Annotated[float, Quantity("m/s", "a speed", "5.5 km/s")]
Density = Annotated[float, Quantity("kg/m^3", "a density", "2.67 g/cm^3")]
Angle = Annotated[float, Quantity("deg", "an angle", "30 deg")]
Moment = Annotated[float, Quantity("N m", "a moment", "1e18 N m")]
Force = Annotated[float, Quantity("N", "a force", "1e10 N")]
Pressure = Annotated[float, Quantity("Pa", "a pressure", "120 MPa")]
Number = Annotated[float, Quantity("", "a plain number", "0.6")]
Count = Annotated[int, Field(strict=True, ge=1)]
CountOrZero = Annotated[int, Field(strict=True, ge=0)]
Flag = Annotated[bool, Field(strict=True)]

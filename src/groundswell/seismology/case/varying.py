"""Values that may vary: numbers with units, expressions and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import ValidationInfo
from pydantic_core import core_schema

from groundswell.case.common import Section
from groundswell.case.expressions import Expression
from groundswell.case.problems import reject
from groundswell.case.units import Accepts, Unit, is_quantity


@dataclass(frozen=True)
class VaryingUnit(Unit):
    """Annotation of a number, expression or table of a parameter that may vary.

    Args:
        least: the lower bound of the values, in `unit`.
        exclusive: whether the bound itself is not allowed.
        cure: how to correct a value below the bound, for messages.
        below: the upper bound, which is not allowed itself.

    Attributes:
        variables: of expressions.
        table: the section of a table; None where there are none.
        described: what a table is, for messages.
    """

    least: float | None = None
    exclusive: bool = False
    cure: str = ""
    below: float | None = None

    variables: ClassVar[tuple[str, ...]] = ()
    table: ClassVar[type[Section] | None] = None
    described: ClassVar[str] = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(self._validate)

    @property
    def expected(self) -> str:
        """Description of valid values, for messages."""
        names = ", ".join(self.variables)
        if not self.table:
            return f"{super().expected}, or an expression of {names}"
        return f"{super().expected}, an expression of {names}, or {self.described}"

    @property
    def accepts(self) -> Accepts:
        """Description of valid values, for the reference."""
        least = "" if self.least is None else f"{'>' if self.exclusive else '≥'} {self.least:g}"
        most = "" if self.below is None else f"< {self.below:g}"
        names = ", ".join(self.variables)
        table = " or a table" if self.table else ""
        text = f"{super().accepts.text}, an expression of {names}{table}"
        return Accepts(text, self.unit, ", ".join(filter(None, [least, most])))

    @property
    def bound(self) -> str:
        """Description of the bounds, for messages."""
        unit = f" {self.unit}" if self.unit else ""
        most = "" if self.below is None else f", and less than {self.below:g}{unit}"
        cure = f"; {self.cure}" if self.cure else ""
        how = "greater than" if self.exclusive else "at least"
        return f"must be {how} {self.least:g}{unit}{most}{cure}"

    def permits(self, value: Any) -> Any:
        """Whether numbers obey the bounds; an array for an array."""
        if self.least is None:
            return value == value
        above = value > self.least if self.exclusive else value >= self.least
        return above if self.below is None else above & (value < self.below)

    def _validate(self, value: object, info: ValidationInfo) -> Any:
        if value is None or (self.table and isinstance(value, self.table)):
            return value
        if self.table and isinstance(value, dict):
            return self.table.model_validate(value, context={**(info.context or {}), "unit": self})
        if isinstance(value, str) and value != self.word and not is_quantity(value):
            return self._expression(value)
        return self.number(value)

    def number(self, value: object) -> float | str:
        """A number within the bounds, or the word that is valid instead."""
        number = self.read(value)
        if not isinstance(number, str) and not self.permits(number):
            reject([((), self.bound)])
        return number

    def _expression(self, text: str) -> str:
        """The text of an expression, so that the case can be written as text."""
        try:
            Expression(text, self.variables)
        except ValueError as error:
            reject([((), f"{error}; or give {super().expected}")])
        return text

"""Values that may vary on a fault: numbers with units, expressions and tables in files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationInfo
from pydantic_core import core_schema

from groundswell.case.common import DataFile, Section
from groundswell.case.expressions import Expression
from groundswell.case.problems import reject
from groundswell.case.units import Accepts, Unit, is_quantity

VARIABLES = ("x", "y", "depth", "along_strike", "down_dip")


class FaultTable(Section):
    """A variable of a NetCDF file with the coordinates along_strike and down_dip."""

    file: DataFile
    """NetCDF file with coordinates along_strike and down_dip."""
    variable: str
    """Name of its variable."""


FaultValue = float | str | FaultTable  # a number, an expression or a table, in SI units


@dataclass(frozen=True)
class Varying(Unit):
    """Annotation of a number, expression or table of a parameter that may vary on a fault.

    Args:
        least: the lower bound of the values, in `unit`.
        exclusive: whether the bound itself is not allowed.
        cure: how to correct a value below the bound, for messages.
    """

    least: float | None = None
    exclusive: bool = False
    cure: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(self._validate)

    @property
    def expected(self) -> str:
        """Description of valid values, for messages."""
        return f"{super().expected}, an expression of {', '.join(VARIABLES)}, or a table in a file"

    @property
    def accepts(self) -> Accepts:
        """Description of valid values, for the reference."""
        bound = "" if self.least is None else f"{'>' if self.exclusive else '≥'} {self.least:g}"
        text = f"{self.noun}, an expression of {', '.join(VARIABLES)} or a table"
        return Accepts(text, self.unit, bound)

    @property
    def bound(self) -> str:
        """Description of the bound, for messages."""
        unit = f" {self.unit}" if self.unit else ""
        cure = f"; {self.cure}" if self.cure else ""
        return (
            f"must be {'greater than' if self.exclusive else 'at least'} {self.least:g}{unit}{cure}"
        )

    def permits(self, value: Any) -> Any:
        """Whether numbers obey the bound; an array for an array."""
        if self.least is None:
            return value == value
        return value > self.least if self.exclusive else value >= self.least

    def _validate(self, value: object, info: ValidationInfo) -> FaultValue | None:
        if value is None or isinstance(value, FaultTable):
            return value
        if isinstance(value, dict):
            return FaultTable.model_validate(value, context=info.context)
        if isinstance(value, str) and not is_quantity(value):
            return self._expression(value)
        number = float(self.read(value))
        if not self.permits(number):
            reject([((), self.bound)])
        return number

    def _expression(self, text: str) -> str:
        """The text of an expression, so that the case can be written as text."""
        try:
            Expression(text, VARIABLES)
        except ValueError as error:
            reject([((), f"{error}; or give {super().expected}")])
        return text

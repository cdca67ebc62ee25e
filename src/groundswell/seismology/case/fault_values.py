"""Values that may vary on a fault: numbers with units, expressions and tables in files."""

from __future__ import annotations

from dataclasses import dataclass

from groundswell.case.common import DataFile, Section
from groundswell.seismology.case.varying import VaryingUnit

VARIABLES = ("x", "y", "depth", "along_strike", "down_dip")


class FaultTable(Section):
    """A variable of a NetCDF file with the coordinates along_strike and down_dip."""

    file: DataFile
    variable: str


FaultValue = float | str | FaultTable  # a number, an expression or a table, in SI units


@dataclass(frozen=True)
class Varying(VaryingUnit):
    """Annotation of a number, expression or table of a parameter that may vary on a fault."""

    variables = VARIABLES
    table = FaultTable
    described = "a table in a file"

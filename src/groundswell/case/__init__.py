"""Cases: TOML files validated and converted to SI units."""

from __future__ import annotations

from groundswell.case.common import Case, Section
from groundswell.case.load import as_case, load_case, read_case

__all__ = ["Case", "Section", "as_case", "load_case", "read_case"]

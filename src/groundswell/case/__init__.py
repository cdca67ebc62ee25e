"""Cases: TOML files validated and converted to SI units."""

from __future__ import annotations

from groundswell.case.common import Case, Section
from groundswell.case.load import CaseInput, as_case, load_case, read_case, read_document
from groundswell.case.settings import Settings, parse_settings, set_values

__all__ = [
    "Case",
    "CaseInput",
    "Section",
    "Settings",
    "as_case",
    "load_case",
    "parse_settings",
    "read_case",
    "read_document",
    "set_values",
]

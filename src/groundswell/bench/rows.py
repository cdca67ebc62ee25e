"""Rows of measurements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = dict[str, Any]
Measured = Mapping[str, Any]  # metadata, and the rows of each table by its name

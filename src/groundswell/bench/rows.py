"""Rows of measurements."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]

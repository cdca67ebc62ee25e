"""Attributes of Zarr groups in the types of JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def json_values(value: Any) -> Any:
    """A value in types of JSON.

    NumPy numbers and arrays become Python numbers and lists. Values that JSON cannot represent,
    such as infinity or a date, become text.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): json_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | None) else str(value)

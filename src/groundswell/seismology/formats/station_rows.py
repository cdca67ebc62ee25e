"""A station as a file gives it, before its values are checked."""

from __future__ import annotations

from typing import Any, NamedTuple


class StationRow(NamedTuple):
    """The place of a station in a file, for messages, and its keys as in `[[receiver]]`."""

    where: str
    content: dict[str, Any]

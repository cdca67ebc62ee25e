"""Changes of a case's content at paths, for tests of its validation."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

DROP = object()


def changed_content(content: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The content with values put at paths such as `source__0__mode`; DROP removes a key."""
    found = copy.deepcopy(dict(content))
    for path, value in changes.items():
        *way, last = (int(part) if part.isdigit() else part for part in path.split("__"))
        table: Any = found
        for part in way:
            table = table[part] if isinstance(part, int) else table.setdefault(part, {})
        if value is DROP:
            del table[last]
        else:
            table[last] = copy.copy(value) if isinstance(value, dict) else value
    return found

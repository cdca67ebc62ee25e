"""Reports of compilers, which the cache of kernels keeps for the next run of the tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from groundswell.backends.cache import KernelCache, default_folder
from groundswell.backends.source import digest


def kept_report(make: Callable[[], Any], *key: str) -> Any:
    """What `make` returns, or returned when it was called for the same key; as JSON has it.

    Args:
        key: everything that the report depends on: the source, the options, the compiler's version.
    """

    def build(path: Path) -> None:
        path.write_text(json.dumps(make()))

    return json.loads(KernelCache(default_folder()).get(f"{digest(*key)}.json", build).read_text())

"""Results of fits in the user's cache, since SciPy's optimisers take half a second to import."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.errors import BackendError


def cached_numbers(
    arguments: Sequence[object], sources: Sequence[str], compute: Callable[[], Floats]
) -> Floats:
    """The numbers that `compute` returns, read from the cache if an earlier process stored them.

    Args:
        arguments: everything on which the numbers depend, except for the code.
        sources: paths of the files with the code.
        compute: returns the numbers, float64 (n,).
    """

    def build(path: Path) -> None:
        path.write_text(json.dumps(compute().tolist()))

    libraries = [f"{name} {version(name)}" for name in ("numpy", "scipy")]
    texts = [Path(source).read_text(encoding="utf-8") for source in sources]
    key = sha256("\n".join([repr(arguments), *libraries, *texts]).encode()).hexdigest()
    try:
        stored = json.loads(KernelCache(default_folder()).get(f"{key}.json", build).read_text())
        return np.array(stored, np.float64)
    except (BackendError, OSError, ValueError):  # the cache cannot be used
        return compute()

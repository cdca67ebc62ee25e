"""Rivals: what the documents compare a solver with, rebuilt to be measured beside it.

They are kernels of papers, versions of an exchange, emulated links and the like. No run needs
them, so they are not installed: they lie in the folder `benchmarks` of a clone of the repository,
as modules `groundswell_rivals.SUBJECT` with a function `extend(benchmark) -> Benchmark`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[3] / "benchmarks"
PACKAGE = "groundswell_rivals"
CURE = "only in a clone of the repository, after `pip install -e .` in it"


def find_rivals(subject: str) -> ModuleType | None:
    """The rivals of a subject of benchmarks; None if it has none, or if this is no clone."""
    if not (FOLDER / PACKAGE / subject).is_dir():
        return None
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return import_module(f"{PACKAGE}.{subject}")

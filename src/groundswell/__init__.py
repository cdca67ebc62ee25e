"""Groundswell: waves on a laptop or a GPU.

Run a case file from Python with `groundswell.run("case.toml")`, or build the case from arrays: see
`groundswell.earthquake` and `groundswell.poisson`. Names are loaded on first use, so importing the
package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "run": "groundswell.run",
    "check": "groundswell.run",
    "earthquake": "groundswell.solvers.earthquake",
    "poisson": "groundswell.solvers.poisson",
    "load_case": "groundswell.case",
    "open_backend": "groundswell.backends",
}

_MODULES = ("earthquake", "poisson")  # which are offered as they are

__all__ = ["__version__", *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'groundswell' has no attribute {name!r}")
    module = import_module(_EXPORTS[name])
    return module if name in _MODULES else getattr(module, name)

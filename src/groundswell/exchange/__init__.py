"""Exchange of ghost layers of distributed arrays, and of values with copies on several ranks.

>>> from groundswell.exchange import Domain
>>> with Domain((6, 4), ghosts=1, periodic=True) as domain:
...     u = domain.zeros("float64")  # a rank's block, with ghosts
...     domain.interior(u)[...] = 1.0
...     u = domain.exchange(u)
>>> float(u.sum())  # 6 x 4 points and their ghosts
48.0

See docs/exchange.md. Names are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundswell.exchange.domain import Domain
    from groundswell.exchange.ghost_field import Field
    from groundswell.exchange.ghosts import Ghosts
    from groundswell.exchange.halo import Options
    from groundswell.exchange.numbering import Numbering
    from groundswell.exchange.plan import Plan

__all__ = ["Domain", "Field", "Ghosts", "Numbering", "Options", "Plan"]
_MODULES = {
    "Domain": "domain",
    "Field": "ghost_field",
    "Ghosts": "pattern",
    "Numbering": "numbering",
    "Options": "halo",
    "Plan": "plan",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'groundswell.exchange' has no attribute {name!r}")
    return getattr(import_module(f"groundswell.exchange.{_MODULES[name]}"), name)

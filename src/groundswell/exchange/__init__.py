"""Ghost layers of arrays that several processes share, and values with copies on several of them.

    domain = Domain((nz, ny, nx), ghosts=2, periodic=(False, True, True))
    u = domain.zeros("float32")
    domain.exchange(u)

    numbering = Numbering(ids)
    numbering.gather_scatter(w)

See docs/exchange.md.

Names are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundswell.exchange.api import Domain, Field, Plan
    from groundswell.exchange.gather_scatter.numbering import Numbering
    from groundswell.exchange.pattern import Ghosts

__all__ = ["Domain", "Field", "Ghosts", "Numbering", "Plan"]
_MODULES = {"Ghosts": "pattern", "Numbering": "gather_scatter.numbering"}  # and api


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'groundswell.exchange' has no attribute {name!r}")
    module = _MODULES.get(name, "api")
    return getattr(import_module(f"groundswell.exchange.{module}"), name)

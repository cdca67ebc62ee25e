"""What `groundswell check` says of an equation, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Rows = dict[str, str]


def words(found: Mapping[str, Any]) -> tuple[Rows, Rows]:
    """The elements and the iteration, and the sides, from what `Setup.describe` says."""
    rows = {
        "elements": f"{found['elements']:,} of degree {found['degree']}",
        "unknowns": f"{found['unknowns']:,}",
        "iterations": f"at most {found['iterations']:,}, {_preconditioned(found)}, until the "
        f"residual is {found['tolerance']:.1g} of the first; a step below is one of them",
    }
    sides: dict[str, list[str]] = {}
    for name, kind in found["boundaries"].items():
        sides.setdefault(kind, []).append(name)
    screening = {"screening": f"{found['screening']:g} 1/m^2"} if found["screening"] else {}
    return rows, {kind: ", ".join(names) for kind, names in sides.items()} | screening


def _preconditioned(found: Mapping[str, Any]) -> str:
    name = found["preconditioner"]
    return "not preconditioned" if name == "none" else f"preconditioned by {name}"

"""What `groundswell check` says of an earthquake, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundswell.grids.cartesian import in_words, times

Rows = dict[str, str]


def words(found: Mapping[str, Any]) -> tuple[Rows, Rows]:
    """The grid and its steps, and what they resolve, from what `Setup.describe` says."""
    rows = {
        "cells": f"{in_words(found['cells'], found['spacing'])}, with absorbing layers around "
        f"{times(found['region'])}",
        "step": f"{found['dt']:.6g} s; stable up to {found['stability_limit']:.6g} s",
        "steps": f"{found['steps']} for {found['steps'] * found['dt']:.6g} s",
    }
    if found["sampling"]:
        rows["samples"] = ", ".join(f"{n} every {s:.6g} s" for n, s in found["sampling"].items())
    return rows, _resolved(found)


def _resolved(found: Mapping[str, Any]) -> dict[str, str]:
    rows = {"fastest wave": f"{found['vp_max']:.5g} m/s"}
    if found["vs_min"] is not None:
        rows["slowest S wave"] = (
            f"{found['vs_min']:.5g} m/s in cell {tuple(found['vs_min_cell'])}, at a depth of "
            f"{found['vs_min_depth']:.5g} m"
        )
    rows |= {
        "frequencies": f"up to {found['resolved_frequency']:.3g} Hz",
        "sources": f"{found['sources']}, 99 % of their energy below "
        f"{found['source_frequency']:.3g} Hz, where the slowest wave spans "
        f"{found['points_per_wavelength']:.3g} cells",
        "receivers": str(found["receivers"]),
    }
    if found["attenuation_error"] is not None:
        rows["misfit of Q(f)"] = f"at most {100 * found['attenuation_error']:.2g} %"
    if found["fluid_cells"]:
        rows["fluid"] = f"{found['fluid_cells']} cells"
    floored = [f"{name} in {n} cells" for name, n in found["floored_cells"].items() if n]
    return rows | ({"raised by the floor": ", ".join(floored)} if floored else {})

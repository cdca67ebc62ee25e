"""A dipping fault that is loaded alike on both sides of its middle breaks alike on both sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from dgwave_cases import build
from mesh_faults import fault_mesh, on_mesh
from small_ruptures import CHANGES, FAULT, ROCK

import groundswell as gs

MIDDLE = 400.0


def dipping(points: Any) -> Any:
    """Planes of constant y dip by 60 degrees to smaller y, below the trace at y = 400."""
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack([x, y - z / np.sqrt(3), z], axis=-1)


def test_a_dipping_rupture_is_symmetric_along_strike(tmp_path: Path) -> None:
    """Slip up dip is even, slip along strike odd; the stress grows with depth as in TPV10."""
    mesh = fault_mesh(tmp_path / "a.msh", {"fault": lambda x, y, z: y == 400}, dipping)
    fault = {key: value for key, value in FAULT.items() if key not in ("plane", "hypocenter")}
    stress = {"normal": "20e6 + 4e5 * down_dip", "shear": "11e6 + 2.2e5 * down_dip", "rake": -90}
    patch = {"shape": "circle", "center": [MIDDLE, 400 - 300 / np.sqrt(3), 300.0], "radius": 150.0}
    patch["stress"] = {"shear": "14e6 + 2.8e5 * down_dip"}
    fault |= {"surface": "fault", "stress": stress, "patch": [patch]}
    medium = on_mesh(mesh, {"kind": "homogeneous", **ROCK})
    given = {**CHANGES, **medium, "fault": [fault], "output": {}, "time__duration": 0.15}
    given["run"] = {"precision": "double"}
    found = gs.run(build(**given), folder=tmp_path / "results").fault
    place = np.column_stack([found.x - MIDDLE, found.down_dip])
    values = {
        n: found[n].values for n in ("slip_strike", "slip_updip", "rupture_time", "normal_stress")
    }
    assert np.abs(values["slip_updip"]).max() > 0.02
    assert np.abs(values["slip_strike"]).max() > 1e-3 * np.abs(values["slip_updip"]).max()
    assert np.isfinite(values["rupture_time"]).any() and np.isnan(values["rupture_time"]).any()

    # Elements have their own values at the places that they share.
    def ordered(sign: float, values: Any) -> Any:
        keys = np.round(place * [sign, 1], 3)
        return values[np.lexsort((values, keys[:, 1], keys[:, 0]))]

    for name, own in values.items():
        odd = name == "slip_strike"
        mirrored = ordered(-1.0, -own if odd else own)
        scale = np.nanmax(np.abs(own))
        np.testing.assert_allclose(mirrored, ordered(1.0, own), atol=1e-9 * scale, equal_nan=True)

"""Write basin.nc: a smooth bowl of soft sediments in hard rock, sampled in three dimensions.

    python make_model.py

S waves travel at 600 to 1200 m/s in the sediments and at 2600 to 3100 m/s in the rock. P speeds and
densities follow the curves of crustal rocks (Brocher 2005), and the quality factors are
Qs = 0.05 Vs (m/s) and Qp = 2 Qs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from groundswell.seismology.media.rules import awp_quality, brocher_density

Array = NDArray[np.float64]

SIZE, SPACING = (16e3, 12e3, 5e3), 250.0  # m
CENTER = (8e3, 6e3)  # m
SEMIAXES = (5e3, 3.5e3, 1e3)  # m; the last is the depth of the bowl
EDGE = 0.08  # how sharp the edge is, in parts of the semiaxes


def shear_speed(x: Array, y: Array, depth: Array) -> Array:
    """S speed (m/s): two depth gradients, joined across the ellipsoid's surface."""
    a, b, c = SEMIAXES
    radius = np.sqrt(((x - CENTER[0]) / a) ** 2 + ((y - CENTER[1]) / b) ** 2 + (depth / c) ** 2)
    sediment = (1 - np.tanh((radius - 1) / EDGE)) / 2
    soft, hard = 600 + 0.6 * np.minimum(depth, c), 2600 + 0.1 * depth
    return sediment * soft + (1 - sediment) * hard


def pressure_speed(vs: Array) -> Array:
    """P speed (m/s) of crustal rocks: Brocher (2005), BSSA 95, 2081-2092, equation 9."""
    km = vs / 1e3
    return 1e3 * (0.9409 + km * (2.0947 + km * (-0.8206 + km * (0.2683 - 0.0251 * km))))


def build() -> xr.Dataset:
    """The model on a regular grid of points, dimensions (depth, y, x)."""
    x, y, depth = (np.arange(0, length + SPACING / 2, SPACING) for length in SIZE)
    vs = shear_speed(x, y[:, None], depth[:, None, None])
    vp = pressure_speed(vs)
    qp, qs = awp_quality(vs)
    values = {
        "vp": (vp, "m/s"),
        "vs": (vs, "m/s"),
        "rho": (brocher_density(vp), "kg/m^3"),
        "qp": (qp, "1"),
        "qs": (qs, "1"),
    }
    fields = {
        name: (("depth", "y", "x"), value.round(1).astype(np.float32), {"units": unit})
        for name, (value, unit) in values.items()
    }
    metres = {"units": "m"}
    axes = {"x": ("x", x, metres), "y": ("y", y, metres)}
    axes["depth"] = ("depth", depth, metres | {"positive": "down"})
    return xr.Dataset(fields, axes, {"title": "Ellipsoidal sediment basin in hard rock"})


if __name__ == "__main__":
    target = Path(__file__).with_name("basin.nc")
    model = build()
    packing = {name: {"zlib": True, "shuffle": True} for name in model.data_vars}
    model.to_netcdf(target, engine="h5netcdf", encoding=packing)
    print(f"{target.name}: {target.stat().st_size / 1e3:.0f} kB")

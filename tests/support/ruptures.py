"""Random ruptures whose slip is the integral of their slip rates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from groundswell.seismology.formats.srf import Srf


def make_rupture(rng: np.random.Generator, points: int, counts: Any, **more: Any) -> Srf:
    """A rupture with `counts` slip rates of each component, (3,) or (points, 3).

    Args:
        more: values of other arguments of `Srf`.
    """
    counts = np.broadcast_to(counts, (points, 3)).astype(int)
    values: dict[str, Any] = {
        "longitude": rng.uniform(0, 0.1, points),
        "latitude": rng.uniform(0, 0.1, points),
        "depth": rng.uniform(1e3, 9e3, points),
        "strike": rng.uniform(0, 360, points),
        "dip": rng.uniform(20, 90, points),
        "rake": rng.uniform(-180, 180, points),
        "area": rng.uniform(1e4, 1e6, points),
        "onset": rng.uniform(0, 3, points),
        "step": rng.uniform(0.05, 0.2, points),
        "slip": np.zeros((points, 3)),
        "counts": counts,
        "rates": rng.uniform(0.5, 2, counts.sum()),
        "vs": np.full(points, np.nan),
        "density": np.full(points, np.nan),
    }
    made = Srf(**(values | more))
    return replace(made, slip=more.get("slip", made.integrated_slip))

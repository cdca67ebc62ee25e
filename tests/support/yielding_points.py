"""Rock and stresses at random points, and the header at them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.backends import Backend, Items, Source
from groundswell.backends.source import precision
from groundswell.seismology.plasticity import DruckerPrager


def random_rock(rng: np.random.Generator, count: int) -> DruckerPrager:
    """From sand to granite; some never yields, some has no cohesion, some no friction."""
    kinds = rng.integers(0, 8, (2, count))
    cohesion = np.choose(np.minimum(kinds[0], 2), [0.0, np.inf, 10.0 ** rng.uniform(3, 8, count)])
    angle = np.where(kinds[1] == 0, 0.0, rng.uniform(0, 60, count))
    return DruckerPrager(cohesion=cohesion, friction_angle=angle, relaxation_time=0.03)


def random_stress(rng: np.random.Generator, count: int) -> Floats:
    """Stresses (6, count), Pa: compression of 0 to 300 MPa and shear of up to as much."""
    pressure = 3e8 * rng.uniform(-0.1, 1, count)
    stress = rng.uniform(-1, 1, (6, count)) * 10.0 ** rng.uniform(3, 8, count)
    stress[:3] -= pressure
    return stress


def evaluate(
    backend: Backend, rock: DruckerPrager, mean: Floats, j2: Floats, dt: float, dtype: str = "f8"
) -> HostArray:
    """Yield factor and strength by the header, (2, n)."""
    given = np.array(np.broadcast_arrays(mean, j2, rock.cohesion_cos, rock.sine), dtype)
    constants = {**precision(dtype), "REMEMBERED": float(rock.remembered(dt))}
    module = backend.compile(Source(Path(__file__).with_suffix(".h"), constants))
    out = backend.zeros((2, given.shape[1]), dtype)
    count = given.shape[1]
    arrays = {"out": out, "given": backend.to_device(given)}
    module.launch("evaluate_yield", Items(count), **arrays, points=count)()
    return backend.to_host(out)

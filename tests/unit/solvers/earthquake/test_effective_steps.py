"""The time step that rows of layered media allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from layered_rows import ROCK, SOFT, WATER, H
from numpy.testing import assert_allclose

from groundswell.backends import open_backend
from groundswell.grids.cartesian import GHOSTS
from groundswell.seismology.problems import case_sections
from groundswell.solvers.earthquake import ground
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import VELOCITIES
from groundswell.solvers.earthquake.verification import simulation as sim

# What binds waves that are faster than those of the cells: a fast layer thinner than a cell, and a
# solid of low S speed whose first row is more than a cell thick.
BINDING = {
    "thin layer": [SOFT, (7.4, ROCK | {"vp": 7000.0}), (7.7, SOFT)],
    "sea floor": [WATER, (7.65, {"vp": 4600.0, "vs": 1350.0, "rho": 2600.0})],
}


def growth(materials: list[Any], fraction: float, **sections: Any) -> float:
    """Growth of random motion over 3000 steps of a fraction of the stability limit.

    The column is closed. Its two cells along x and y hold the largest horizontal wavenumber.
    """
    first, *others = materials
    layers = [{"top": 0.0, **first}, *({"top": top * H, **m} for top, m in others)]
    sections |= {
        "grid": {"size": (2 * H, 2 * H, 16 * H), "spacing": H},
        "medium": {"kind": "layered", "layers": layers},
        "boundary": {"top": "absorbing", "sides": "periodic", "width": 1},
        "source": [case_sections.SILENCE],
    }
    setup = prepare(sim.make_case(time={"duration": 1.0}, **sections))
    step = fraction * setup.stable.limit
    case = sim.make_case(time={"duration": 1e4 * step, "step": step}, **sections)
    found = sim.build(case, open_backend("cpu"), closed=True)
    rng = np.random.default_rng(1)
    for velocity in VELOCITIES:
        field = found.fields[velocity].interior
        field[...] = rng.normal(size=field.shape)
    sim.advance(found, 3000)
    return float(max(np.abs(v).max() for v in sim.read(found, VELOCITIES).values()))


@pytest.mark.parametrize("name", BINDING)
def test_waves_bound_to_interfaces_limit_the_time_step(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the limit itself, motion grows linearly."""
    assert growth(BINDING[name], 0.99) < 100
    monkeypatch.setattr(ground, "equivalent_speed", lambda rows, spacing: 0.0)
    with np.errstate(all="ignore"):
        assert not growth(BINDING[name], 0.99) < 1e6


def test_rows_of_extreme_contrast_and_low_q_lose_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    mud = {"vp": 400.0, "vs": 200.0, "rho": 1700.0, "qp": 40.0, "qs": 20.0}
    materials = [mud, (7.5, ROCK | {"qp": 200.0, "qs": 100.0})]
    attenuation = {"model": "constant"}
    assert growth(materials, 0.9, attenuation=attenuation) < 1
    monkeypatch.setattr(ground, "make_passive", lambda rows, relaxation: rows)
    with np.errstate(all="ignore"):
        assert not growth(materials, 0.9, attenuation=attenuation) < 1e6


def test_ordinary_layers_keep_their_q() -> None:
    soft, rock = SOFT | {"qp": 100.0, "qs": 50.0}, ROCK | {"qp": 300.0, "qs": 150.0}
    case = sim.make_case(
        grid={"size": (500.0, 500.0, 1600.0), "spacing": H},
        time={"duration": 1.0},
        medium={"kind": "layered", "layers": [{"top": 0.0, **soft}, {"top": 760.0, **rock}]},
        attenuation={"model": "constant"},
        source=[case_sections.SILENCE],
    )
    rows = prepare(case).ground.rows
    assert rows is not None
    shares = np.clip(np.arange(16) - 6.6, 0, 1)  # of the rock
    inverse_q = rows.properties["inverse_qs"][GHOSTS : GHOSTS + 16]
    assert_allclose(inverse_q, (1 - shares) / 50 + shares / 150)


def test_ordinary_layers_allow_the_step_of_the_fastest_of_them() -> None:
    layers = [{"top": 0.0, **SOFT}, {"top": 730.0, **ROCK}]
    case = sim.make_case(
        grid={"size": (2000.0, 2000.0, 2000.0), "spacing": H},
        time={"duration": 1.0},
        medium={"kind": "layered", "layers": layers},
        source=[case_sections.SILENCE],
    )
    found = prepare(case)
    assert found.ground.limiting_speed == found.ground.max_wave_speed == ROCK["vp"]

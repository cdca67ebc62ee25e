"""The moment, slip and duration of ruptures."""

from __future__ import annotations

import numpy as np
import pytest
from fault_files import scattered

from groundswell.case.quantities import as_values
from groundswell.seismology.faults.rupture import NEEDED, mean_rigidity, rupture_quantities

rng = np.random.default_rng(3)


def test_moment_is_mu_times_slip_over_the_area() -> None:
    faults = {"main": scattered(rng, 40, 9e3, 3e3), "side": scattered(rng, 20, 2e3, 2e3)}
    count = sum(map(len, faults.values()))
    values = {name: rng.uniform(0, 2, count) for name in NEEDED}
    values |= {"mu": rng.uniform(1e10, 4e10, count), "rupture_time": rng.uniform(0, 7, count)}
    values["rupture_time"][rng.random(count) < 0.3] = np.inf
    found = as_values([*rupture_quantities(faults, values)])
    area = np.concatenate([points.area for points in faults.values()])
    slip = np.sqrt(values["slip_strike"] ** 2 + values["slip_updip"] ** 2)
    moment = float(values["mu"] * area @ slip)
    assert found["moment"] == pytest.approx(moment)
    assert found["magnitude"] == pytest.approx((np.log10(moment) - 9.1) / 1.5, abs=0.01)
    broken = np.isfinite(values["rupture_time"])
    assert found["mean_slip"] == pytest.approx(np.average(slip[broken], weights=area[broken]))
    assert found["largest_slip"] == slip.max()
    assert found["duration"] == np.ptp(values["rupture_time"][broken])
    assert found["fault_main_moment"] + found["fault_side_moment"] == pytest.approx(moment)


def test_a_fault_without_slip_has_no_magnitude() -> None:
    points = scattered(rng, 20, 2e3, 2e3)
    values = dict.fromkeys(NEEDED, np.zeros(len(points)))
    values["rupture_time"] = np.full(len(points), np.inf)
    found = [*rupture_quantities({"main": points}, values)]
    assert as_values(found)["magnitude"] is None
    assert found[0].text == "no slip"


def test_waves_have_what_deformation_does_not_take() -> None:
    """While the fault still slips, this is not known."""
    points = scattered(rng, 30, 2e3, 2e3)
    values = {name: rng.uniform(0, 2, len(points)) for name in NEEDED}
    assert as_values([*rupture_quantities({"main": points}, values)])["radiated_energy"] is None
    values |= dict.fromkeys(("rate_strike", "rate_updip"), np.zeros(len(points)))
    found = as_values([*rupture_quantities({"main": points}, values)])
    drop = np.array([values[f"load_{way}"] - values[f"shear_{way}"] for way in ("strike", "updip")])
    slip = np.array([values["slip_strike"], values["slip_updip"]])
    expected = points.area @ (values["released"] - 0.5 * (drop * slip).sum(axis=0))
    assert found["radiated_energy"] == pytest.approx(float(expected))
    assert found["work"] == pytest.approx(float(points.area @ values["work"]))


def test_rigidity_between_two_rocks_lies_between_theirs() -> None:
    assert mean_rigidity(np.array([3e10]), np.array([3e10])) == pytest.approx([3e10])
    assert mean_rigidity(np.array([2e10]), np.array([6e10])) == pytest.approx([3e10])

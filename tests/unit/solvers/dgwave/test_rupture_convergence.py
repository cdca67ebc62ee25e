"""The problems of self-convergence: shapes of their faults, and means over coarse faces."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from groundswell.backends.cpu import CpuBackend
from groundswell.solvers.dgwave.setup import prepare
from groundswell.solvers.dgwave.verification import rupture_convergence
from groundswell.solvers.dgwave.verification.mesh_files import write_mesh
from groundswell.solvers.dgwave.verification.rupture_convergence import DEGREE, TPV10, TPV24

NODES = (DEGREE + 1) ** 2


def faults_of(problem: Any, folder: Path, parts: int = 1) -> Any:
    write_mesh(folder / "a.med", problem.box(parts), problem.surfaces)
    return prepare(problem.case(folder / "a.med", CpuBackend())).faults


def test_tpv10_dips_and_reaches_the_surface(tmp_path: Path) -> None:
    fault = faults_of(TPV10, tmp_path).faults[0]
    points, w = fault.points, fault.points.down_dip
    x, y, depth = points.position.T
    np.testing.assert_allclose(y, -depth / sqrt(3), atol=1e-6)
    np.testing.assert_allclose(depth, w * sqrt(3) / 2, atol=1e-6)
    assert points.area.sum() == pytest.approx(6e3 * 15e3) and w.min() == pytest.approx(0, abs=1e-6)
    # The nucleation is loaded just above its strength: 3 km wide around 12 km down dip.
    estimates = fault.estimates
    above = estimates.loaded > estimates.static
    assert points.area[above].sum() == pytest.approx(9e6)
    assert np.abs(x[above]).max() <= 1500.001 and np.abs(w[above] - 12e3).max() <= 1500.001


def test_tpv24_has_a_branch_under_the_same_stress(tmp_path: Path) -> None:
    main, branch = faults_of(TPV24, tmp_path).faults
    assert np.abs(main.points.position[:, 1]).max() < 1e-6
    x, y, _ = branch.points.position.T
    np.testing.assert_allclose(y, -x / sqrt(3), atol=1e-6)
    assert branch.points.area.sum() == pytest.approx(4e3 * 15e3)
    # Right-lateral, as on the main fault; the stress on both grows with depth.
    for fault, shear, normal in ((main, 0.169029, 1.073206), (branch, 0.1479, 0.8901)):
        at = fault.points.position[:, 2] > 5e3
        depth = fault.points.position[at, 2]
        given = fault.conditions
        np.testing.assert_allclose(given.shear_strike[at], -shear * 16366 * depth, rtol=1e-3)
        np.testing.assert_allclose(given.normal_stress[at], normal * 16366 * depth, rtol=1e-3)


def test_finer_meshes_have_the_same_means_of_a_linear_field(tmp_path: Path) -> None:
    found = []
    for parts in (1, 2):
        fault = faults_of(TPV10, tmp_path, parts).faults[0].points
        given = {
            "fault": np.zeros(len(fault)),
            "along_strike": fault.along_strike,
            "down_dip": fault.down_dip,
            "area": fault.area,
            "rupture_time": 1 + fault.along_strike / 1e3,
            "slip_strike": 0 * fault.area,
            "slip_updip": fault.down_dip,
        }
        data = xarray.Dataset({name: ("point", values) for name, values in given.items()})
        found.append(TPV10.means(data))
    assert found[0].shape == (2, 40)
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.unique(found[0][0].round(6)), [-1.25, 0.25, 1.75, 3.25])


def test_faces_at_ends_and_at_the_branch_are_not_compared(tmp_path: Path) -> None:
    """Of 14 columns of faces, those at both ends and beside the branch; of its 4, the outer two."""
    given = []
    for n, fault in enumerate(faults_of(TPV24, tmp_path).faults):
        points = fault.points
        x, y, depth = points.position.T
        places = {"along_strike": points.along_strike, "down_dip": points.down_dip}
        values = {"x": x, "y": y, "depth": depth, "area": points.area, **places}
        values["fault"] = np.full(len(points), n)
        given.append(xarray.Dataset({name: ("point", each) for name, each in values.items()}))
    found = TPV24.is_inside(xarray.concat(given, "point"))
    main, branch = np.split(found, [14 * 15])
    columns = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]
    assert (main.reshape(14, 15) == np.outer(columns, np.arange(15) < 14)).all()
    assert (branch.reshape(4, 15) == np.outer([0, 1, 1, 0], np.arange(15) < 14)).all()


def test_orders_are_those_of_the_errors() -> None:
    """Of order 1.5 in rupture times and 1 in slip; faces that do not break are left out."""
    rng = np.random.default_rng(5)
    exact, errors = rng.uniform(1, 2, (2, 30)), rng.uniform(0.01, 0.02, (2, 30))

    class Known(rupture_convergence.Problem):
        def run(self, parts: int, backend: Any) -> Any:
            return parts

        def means(self, found: Any) -> Any:
            values = exact + errors * np.array([[found**-1.5], [found**-1.0]])
            values[:, :5] = rng.uniform(0, 9)  # at ends
            values[0, 7] = np.nan
            return values

        def is_inside(self, found: Any) -> Any:
            return np.arange(30) > 4

    assert np.isnan(rupture_convergence.observed_order(0.5, (2, 3, 4)))  # they grow

    known = Known(**vars(TPV10))
    checks = [*rupture_convergence._orders(known, CpuBackend())]
    orders = [check for check in checks if "order" in check.name]
    assert [check.value for check in orders] == pytest.approx([1.5, 1.0])
    assert all("; 24 faces; " in check.note for check in orders)
    assert all(" on 5 faces at ends" in check.note for check in orders)

"""Ground-motion models against calls of pyGMM for single scenarios."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.seismology.hazard.curves import exceedance_rates
from groundswell.seismology.hazard.ground_motion import (
    _FAULTING,
    MODELS,
    OWN,
    GroundMotionModel,
    _scenario,
)
from groundswell.seismology.hazard.measures import GRAVITY, Measure
from groundswell.seismology.hazard.nrml import Discretisation, read_nrml
from groundswell.seismology.hazard.ruptures import Rupture, Ruptures
from groundswell.seismology.hazard.sites import Sites
from groundswell.seismology.hazard.surfaces import Surface

KM = 1e3
PLACES = np.array([[12 * KM, 0.0], [-30 * KM, 20 * KM], [400 * KM, 0.0]])
SITES = Sites(["A", "B", "C"], PLACES, False, np.full(3, 500.0), np.array([np.nan, 80.0, np.nan]))
SURFACE = Surface.rectangle((0.0, 0.0, 1 * KM), 0.0, 50.0, (20 * KM, 10 * KM))
RUPTURES = Ruptures([Rupture("R", 6.4, 1e-2, 90.0, SURFACE)])
MEASURES = [Measure("pga"), Measure("psa", 1.0), Measure("rotd50", 0.2)]


@pytest.fixture(scope="module")
def pygmm() -> Any:
    return pytest.importorskip("pygmm")


def scenario(pygmm: Any, site: int) -> Any:
    distances = SURFACE.distances(PLACES)
    basin = {"depth_1_0": 0.08} if site == 1 else {}
    return pygmm.Scenario(
        mag=6.4,
        mechanism="RS",
        dip=50.0,
        width=10.0,
        depth_tor=1.0,
        dist_rup=distances.rupture[site] / KM,
        dist_jb=distances.joyner_boore[site] / KM,
        dist_x=distances.across[site] / KM,
        dist_y0=distances.along[site] / KM,
        on_hanging_wall=site == 0,
        v_s30=500.0,
        **basin,
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_medians_and_scatter_are_those_of_pygmm(pygmm: Any, name: str) -> None:
    found = GroundMotionModel(name).lognormal(MEASURES, RUPTURES, SITES)
    for site in range(2):
        model = getattr(pygmm, MODELS[name])(scenario(pygmm, site))
        pga, psa, short = (found[measure] for measure in MEASURES)
        assert np.exp(pga.mean[0, site]) == pytest.approx(model.pga * GRAVITY)
        assert pga.deviation[0, site] == pytest.approx(model.ln_std_pga)
        for motion, period in ((psa, 1.0), (short, 0.2)):
            wanted = model.interp_spec_accels([period])[0] * GRAVITY
            assert np.exp(motion.mean[0, site]) == pytest.approx(wanted)
            assert motion.deviation[0, site] == pytest.approx(model.interp_ln_stds([period])[0])


def test_velocity_is_in_si_units(pygmm: Any) -> None:
    pgv = Measure("pgv")
    found = GroundMotionModel("BSSA14").lognormal([pgv], RUPTURES, SITES)[pgv]
    wanted = pygmm.BooreStewartSeyhanAtkinson2014(scenario(pygmm, 0)).pgv / 100
    assert np.exp(found.mean[0, 0]) == pytest.approx(wanted) and 0.02 < wanted < 1


def test_far_sites_feel_nothing(pygmm: Any) -> None:
    motion = GroundMotionModel("BSSA14", maximum_distance=100e3).lognormal(
        [MEASURES[0]], RUPTURES, SITES
    )[MEASURES[0]]
    rates = exceedance_rates(motion, RUPTURES.rates, np.array([1e-6]), 3)[:, 0]
    assert rates == pytest.approx([1e-2, 1e-2, 0.0])


def test_parameters_and_remarks(pygmm: Any) -> None:
    japan = GroundMotionModel("BSSA14", {"region": "japan"})
    plain = GroundMotionModel("BSSA14", maximum_distance=500e3)
    first = japan.lognormal([MEASURES[0]], RUPTURES, SITES)[MEASURES[0]]
    second = plain.lognormal([MEASURES[0]], RUPTURES, SITES)[MEASURES[0]]
    assert not np.allclose(first.mean[0, :2], second.mean[0, :2])
    assert plain.remarks == {"BSSA14: dist_jb is greater than the recommended limit"}


@pytest.mark.parametrize("name", ["BSSA14", "CB14", "CY14"])
def test_magnitudes_beyond_those_of_their_faulting_are_one_remark(
    pygmm: Any, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """pyGMM logs them, once for each prediction."""
    model = GroundMotionModel(name)
    ruptures = Ruptures([Rupture(f"R{n}", 8.4 + n / 50, 1e-2, -90.0, SURFACE) for n in range(3)])
    model.lognormal(MEASURES, ruptures, SITES)
    assert f"{name}: {_FAULTING}" in model.remarks
    assert not capfd.readouterr().err


def test_parameters_that_ruptures_and_sites_have() -> None:
    pytest.importorskip("pygmm")
    for key in OWN:
        with pytest.raises(InputError, match=f'"{key}" follows from the rupture and the site'):
            GroundMotionModel("BSSA14", {key: 5.0})
    assert {*_scenario(RUPTURES[0], SURFACE, SURFACE.distances(PLACES), SITES, 0)} == {*OWN}


def test_many_predictions_are_shared_by_processes(
    pygmm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same results and remarks, and the same errors."""
    ruptures = Ruptures(
        [Rupture(f"R{n}", 5.5 + 0.2 * n, 1e-2, 90.0, SURFACE) for n in range(6)]
        + [Rupture("large", 8.6, 1e-3, 90.0, SURFACE)]
    )
    monkeypatch.setattr("groundswell.seismology.hazard.ground_motion.default_threads", lambda: 2)
    alone, shared = (GroundMotionModel("BSSA14") for _ in range(2))
    wanted = alone.lognormal(MEASURES, ruptures, SITES)
    monkeypatch.setattr("groundswell.seismology.hazard.ground_motion._MANY", 1)
    found = shared.lognormal(MEASURES, ruptures, SITES)
    for measure in MEASURES:
        assert np.array_equal(found[measure].mean, wanted[measure].mean)
        assert np.array_equal(found[measure].deviation, wanted[measure].deviation)
    assert shared.remarks == alone.remarks and len(alone.remarks) == 1
    with pytest.raises(InputError, match="does not predict pgd"):
        shared.lognormal([Measure("pgd")], ruptures, SITES)


def test_what_models_cannot_do(pygmm: Any) -> None:
    with pytest.raises(InputError, match=r"model 'BSA14': must be .*did you mean .BSSA14."):
        GroundMotionModel("BSA14")
    with pytest.raises(InputError, match=r'no parameter is called "regio".*"region"'):
        GroundMotionModel("BSSA14", {"regio": "japan"})
    with pytest.raises(InputError, match="region value of 'japn' is not one of the options"):
        GroundMotionModel("BSSA14", {"region": "japn"}).lognormal(MEASURES, RUPTURES, SITES)
    with pytest.raises(InputError, match="model I14 does not predict pgv"):
        GroundMotionModel("I14").lognormal([Measure("pgv")], RUPTURES, SITES)
    with pytest.raises(InputError, match="the period is out of range"):
        GroundMotionModel("BSSA14").lognormal([Measure("psa", 50.0)], RUPTURES, SITES)
    flat = Ruptures([Rupture("R", 6.4, 1e-2)])
    with pytest.raises(InputError, match='needs the surface of each rupture, which "R" lacks'):
        GroundMotionModel("BSSA14").lognormal(MEASURES, flat, SITES)


def test_without_pygmm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygmm", None)
    with warnings.catch_warnings(), pytest.raises(InputError, match=r"-e '.\[hazard\]'"):
        GroundMotionModel("BSSA14")


# --- against another program ----------------------------------------------------------------------

MODEL = Path(__file__).parents[4] / "examples" / "hazard" / "model.xml"
LEVELS = np.geomspace(0.01, 2.0, 30)[[8, 14, 20, 24]] * GRAVITY
# Annual rates of the OpenQuake engine 3.25.1 (hazardlib, BooreEtAl2014, truncated at 3 standard
# deviations, mesh spacing 2 km, bins of 0.25) at the sites below, with Vs30 = 500 m/s.
REFERENCE = {
    Measure("pga"): [
        [0.02131, 0.008773, 0.001833, 0.0002848],
        [0.01829, 0.007234, 0.002942, 0.001003],
        [0.01793, 0.01222, 0.005192, 0.00115],
    ],
    Measure("psa", 1.0): [
        [0.01208, 0.005466, 0.001558, 0.0003122],
        [0.01036, 0.005191, 0.002627, 0.0009683],
        [0.0145, 0.006107, 0.0008666, 0.0001031],
    ],
}


def test_rates_of_a_source_model_are_those_of_openquake(pygmm: Any) -> None:
    """Both place floating ruptures differently, and OpenQuake takes distances to mesh points."""
    places = np.array([[-122.05, 37.75], [-121.95, 37.6], [-121.7, 38.1]])
    sites = Sites(["A", "B", "C"], places, True, np.full(3, 500.0), np.full(3, np.nan))
    ruptures = Ruptures(read_nrml(MODEL, sites.frame, Discretisation(2000.0, 0.25)))
    motion = GroundMotionModel("BSSA14", truncation=3.0).lognormal([*REFERENCE], ruptures, sites)
    for measure, wanted in REFERENCE.items():
        found = exceedance_rates(motion[measure], ruptures.rates, LEVELS, 3)
        assert found == pytest.approx(np.array(wanted), rel=0.02)

"""What is known of the event before a run: magnitude, centroid, outline, origin time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from earthquake_setups import GEOGRAPHY, SOURCE, case, setup

from groundswell.errors import CaseError
from groundswell.seismology.formats.srf import Plane
from groundswell.seismology.sources import moment
from groundswell.seismology.sources.event import event_attributes, outline
from groundswell.seismology.survey import Survey
from groundswell.solvers.earthquake.setup import Setup, prepare

rng = np.random.default_rng(2014)
EXAMPLES = Path(__file__).parents[4] / "examples"


def attributes(found: Setup) -> dict[str, Any]:
    survey = Survey(found.survey.entries, found.survey.receivers, event=found.survey.event)
    return event_attributes(found.case, found.geography, survey)


def test_a_double_couple_names_its_angles_and_magnitude() -> None:
    found = attributes(setup(title="T"))
    assert found["focal_mechanism"] == [239.0, 70.0, 38.0]
    assert found["magnitude"] == 5.1
    assert (found["event_x"], found["event_y"]) == pytest.approx((1300.0, 1700.0))
    assert found["event_depth"] == pytest.approx(1100.0)
    assert found["title"] == "T"
    assert "event_longitude" not in found and "epicentre_x" not in found


def test_the_case_has_the_last_word_on_the_event() -> None:
    event = {"name": "La Habra", "magnitude": 5.2, "origin_time": "2014-03-28T21:09:42.97-07:00"}
    found = attributes(setup(event=event))
    assert found["magnitude"] == 5.2
    assert found["event_name"] == "La Habra"
    assert found["origin_time"] == "2014-03-29T04:09:42.970000Z"


@pytest.mark.parametrize("value", ["yesterday", 20140329, "2014-13-01", "0001-01-01T00:00+14:00"])
def test_an_origin_time_must_be_a_time(value: Any) -> None:
    with pytest.raises(CaseError, match=r"origin_time .*must be a date and time, such as 2014"):
        case(event={"origin_time": value})


def test_several_sources_have_a_centroid_a_net_tensor_and_a_beginning() -> None:
    places = rng.uniform(500, 1900, (4, 3))
    moments, angles = rng.uniform(1e15, 9e15, 4), rng.uniform((0, 5, -180), (360, 90, 180), (4, 3))
    onsets = rng.permutation(4) * 0.2
    sources = [
        SOURCE
        | dict(zip(("x", "y", "depth"), map(float, place), strict=True))
        | dict(zip(("strike", "dip", "rake"), map(float, angle), strict=True))
        | {"magnitude": None, "moment": float(m)}
        | {"time_function": {"kind": "cosine", "rise": 0.6, "onset": float(onset)}}
        for place, angle, m, onset in zip(places, angles, moments, onsets, strict=True)
    ]
    made = setup(source=sources, grid={"geography": GEOGRAPHY})
    found = attributes(made)
    centroid = np.average(places, axis=0, weights=moments)
    assert [found[f"event_{c}"] for c in ("x", "y", "depth")] == pytest.approx(centroid, rel=1e-6)
    assert (found["epicentre_x"], found["epicentre_y"]) == tuple(places[onsets.argmin(), :2])
    lonlat = made.geography.to_lonlat(*centroid[:2])  # type: ignore[union-attr]
    assert (found["event_longitude"], found["event_latitude"]) == pytest.approx(lonlat, abs=1e-7)
    net = moment.double_couple(*angles.T, moments).sum(axis=0)  # along east, north, down
    m0 = float(np.sqrt(np.sum(moment.as_matrix(net) ** 2) / 2))
    assert found["magnitude"] == pytest.approx((np.log10(m0) - 9.1) / 1.5, abs=6e-3)
    again = moment.from_rtp(found["focal_mechanism"])
    assert again == pytest.approx(net, abs=1e-6 * m0)


def test_forces_and_moment_that_is_given_back_have_no_magnitude() -> None:
    ricker = SOURCE | {"time_function": {"kind": "ricker", "frequency": 2.0}}
    force = {"kind": "force", "force": [0, 0, 1e9], "x": 1500.0, "y": 100.0, "depth": 0.0}
    force["time_function"] = {"kind": "gaussian", "sigma": 0.1}
    for source in (ricker, force):
        found = attributes(setup(source=[source]))
        assert found["magnitude"] is None
        assert found["event_x"] == source["x"]
    assert attributes(setup(source=[force]))["focal_mechanism"] is None


def test_a_rupture_has_its_outline_and_its_moment() -> None:
    found = attributes(prepare(_example("finite_fault")))
    assert found["magnitude"] == 6.0
    # The case's grid runs along the fault, which is 12 km long, vertical, in the middle of x.
    assert found["fault_x"] == pytest.approx(np.full(5, 10e3), abs=1)
    assert sorted(set(np.round(found["fault_y"], -1))) == [9e3, 21e3]
    # Right-lateral slip begins 3.5 km south-west of the middle; the subfaults are 500 m wide.
    assert found["epicentre_y"] == pytest.approx(11.5e3, abs=300)
    expected = moment.to_rtp(moment.double_couple(30, 90, 180, 10 ** (1.5 * 6 + 9.1)))
    assert found["focal_mechanism"] == pytest.approx(expected, abs=2e-3 * np.abs(expected).max())


def test_a_rupture_without_geography_has_the_same_outline_and_moment() -> None:
    original = prepare(_example("finite_fault"))
    wanted = attributes(original)
    content = original.case
    source = content.source[0].model_copy(
        update={"x": wanted["epicentre_x"], "y": wanted["epicentre_y"], "azimuth": 30.0}
    )
    grid = content.grid.model_copy(update={"geography": None})
    placed = content.model_copy(update={"source": (source,), "grid": grid, "receivers": None})
    found = attributes(prepare(placed))
    for name in ("fault_x", "fault_y", "event_x", "event_y", "epicentre_x", "epicentre_y"):
        # North differs by 0.01 degrees between the epicentre and the centre of the region.
        assert found[name] == pytest.approx(wanted[name], abs=3), name
    assert found["magnitude"] == wanted["magnitude"] == 6.0
    along_y = moment.to_rtp(moment.double_couple(0, 90, 180, 10 ** (1.5 * 6 + 9.1)))
    assert found["focal_mechanism"] == pytest.approx(along_y, abs=2e-3 * np.abs(along_y).max())


def _example(name: str) -> Any:
    from groundswell.case import load_case

    return load_case(EXAMPLES / name / "case.toml")


def test_a_dipping_fault_reaches_to_the_right_of_its_strike() -> None:
    geography = case(grid={"geography": GEOGRAPHY}).grid.frame
    centre = geography.to_lonlat(1000.0, 500.0)  # type: ignore[union-attr]
    plane = Plane(*centre, 1, 1, 600.0, 400.0, 25.0 + 90.0, 60.0, 0.0, 0.0, 0.0)
    x, y = outline(plane, geography)  # type: ignore[arg-type]
    # In the grid's frame the strike is 90 degrees, along x, and the fault dips to -y.
    assert x[:5] == pytest.approx([700, 1300, 1300, 700, 700], abs=0.01)
    assert y[:5] == pytest.approx([500, 500, 300, 300, 500], abs=0.01)
    assert np.isnan([x[5], y[5]]).all()

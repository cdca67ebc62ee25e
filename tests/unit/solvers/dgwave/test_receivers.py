"""Receivers of DG waves: hydrophones, ocean-bottom nodes, and the files of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dgwave_cases import EXPLOSION, VALID, WATER, build

import groundswell as gs
from groundswell.errors import CaseError, InputError
from groundswell.solvers.earthquake import EarthquakeCase

SEA = {
    "kind": "layered",
    "layers": [{"top": 0, **{k: WATER[k] for k in ("vp", "vs", "rho")}},
               {"top": 200, "vp": 3000, "vs": 1700, "rho": 2500}],
}  # fmt: skip
FLOOR = 200.0


def receiver(name: str, kind: str, depth: float, x: float = 330.0) -> dict[str, Any]:
    return {"name": name, "kind": kind, "x": x, "y": 270.0, "depth": depth}


def run(folder: Path, *receivers: dict[str, Any], **changes: Any) -> gs.Result:
    given = {"medium": SEA, "source": [EXPLOSION], "time__duration": 0.4, **changes}
    case = build(folder, receiver=list(receivers), run__precision="double", **given)
    return gs.run(case, folder=folder / "results")


def test_pressure_is_minus_the_mean_of_the_normal_stresses(tmp_path: Path) -> None:
    """In water and in rock, against the recorded stresses."""
    places = [(330.0, 270.0, depth) for depth in (0.0, 120.0, 440.0)]
    fields = ["sxx", "syy", "szz"]
    where = {"kind": "points", "positions": places}
    record = {"fields": fields, "where": where, "what": "raw", "file": "stresses.h5"}
    hydrophones = [receiver(f"H{n}", "hydrophone", z) for n, (*_, z) in enumerate(places)]
    result = run(tmp_path, *hydrophones, output__record=[record])
    stresses = [result.records["stresses.h5"][name].transpose("point", "time") for name in fields]
    wanted = -np.mean(stresses, axis=0)
    found = result.pressure.values
    assert result.pressure.dims == ("station", "time")
    largest = np.abs(wanted).max(axis=1, keepdims=True)
    assert (largest[1:] > 0).all() and (np.abs(found - wanted) < 1e-13 * largest.max()).all()


def test_both_sets_of_equations_have_the_same_pressure(tmp_path: Path) -> None:
    found = []
    for equations in ("acoustic", "elastic"):
        changes = {"medium": WATER, "method__equations": equations}
        result = run(tmp_path / equations, receiver("H", "hydrophone", 110), **changes)
        found.append(result.pressure.values)
    largest = np.abs(found[0]).max()
    assert largest > 0 and np.abs(found[0] - found[1]).max() < 1e-12 * largest


def test_a_node_hears_the_water_and_feels_the_ground(tmp_path: Path) -> None:
    """On the sea floor, where pressure and horizontal velocity jump; so do single instruments."""
    near, both = 1e-3, "ocean-bottom-node"
    result = run(
        tmp_path,
        receiver("N", both, FLOOR),
        receiver("WATER", both, FLOOR - near),
        receiver("GROUND", both, FLOOR + near),
        receiver("H", "hydrophone", FLOOR),
        receiver("S", "seismometer", FLOOR),
    )
    p, v = result.pressure, result.seismograms.sel(component="E")
    for array, same, other, alone in ((p, "WATER", "GROUND", "H"), (v, "GROUND", "WATER", "S")):
        of = {name: array.sel(station=name).values for name in ("N", same, other, alone)}
        largest = np.abs(of["N"]).max()
        assert np.abs(of["N"] - of[same]).max() < 1e-4 * largest
        assert np.abs(of["N"] - of[other]).max() > 0.05 * largest
        assert (of["N"] == of[alone]).all()


def test_each_file_has_the_receivers_that_record_it(tmp_path: Path) -> None:
    receivers = [
        receiver("S", "seismometer", 300),
        receiver("H", "hydrophone", 10),
        receiver("N", "ocean-bottom-node", FLOOR),
    ]
    result = run(tmp_path, *receivers, output__seismograms={"interval": 0.01, "formats": ["mseed"]})
    assert result.seismograms["station"].values.tolist() == ["S", "N"]
    assert result.pressure["station"].values.tolist() == ["H", "N"]
    channels = sorted(f"{t.stats.station} {t.stats.channel}" for t in result.stream)
    assert channels == ["H HDH", "N HDH", "N HHE", "N HHN", "N HHZ", "S HHE", "S HHN", "S HHZ"]
    assert (result.folder / "seismograms.mseed").is_file()


def test_hydrophones_alone_write_no_velocities(tmp_path: Path) -> None:
    result = run(tmp_path, receiver("H", "hydrophone", 10))
    assert "pressure.h5" in result.summary["files"]
    assert "seismograms.h5" not in result.summary["files"]
    with pytest.raises(InputError, match='a receiver of the kind "seismometer" or "ocean'):
        _ = result.seismograms


def test_earthquakes_have_seismometers_only(tmp_path: Path) -> None:
    content = {k: v for k, v in VALID.items() if k not in ("method", "boundary")}
    content |= {"solver": "earthquake", "receiver": [receiver("H", "hydrophone", 10)]}
    with pytest.raises(CaseError) as caught:
        EarthquakeCase.from_dict(content, tmp_path)
    [problem] = caught.value.problems
    assert problem.key == "receiver[0].kind"
    assert problem.allowed == 'must be "seismometer" for this solver'
    (tmp_path / "s.csv").write_text("station,x,y,kind\nH,1,2,hydrophone\n")
    del content["receiver"]
    case = EarthquakeCase.from_dict(content | {"receivers": {"file": "s.csv"}}, tmp_path)
    with pytest.raises(InputError, match='H: kind = hydrophone: must be "seismometer"'):
        gs.check(case)

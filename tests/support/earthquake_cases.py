"""A valid earthquake case, variations of it, and the problems that a case has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from changed_content import DROP as DROP
from changed_content import changed_content

from groundswell.errors import CaseError, CaseProblem
from groundswell.solvers.earthquake import case as schema

PULSE = {"kind": "brune", "rise": "0.2 s"}
SOURCE = {
    "kind": "double-couple", "longitude": -117.93, "latitude": 33.93, "depth": "5 km",
    "strike": 233, "dip": 77, "rake": 49, "magnitude": 5.1, "time_function": PULSE,
}  # fmt: skip
LAYERS = [
    {"top": 0, "vp": "5.5 km/s", "vs": "3.18 km/s", "rho": "2.4 g/cm^3", "qp": 300, "qs": 150},
    {"top": "2 km", "vp": 6300, "vs": 3640, "rho": 2670, "qp": 600, "qs": 300},
]
VALID: dict[str, Any] = {
    "solver": "earthquake",
    "title": "La Habra",
    "grid": {
        "size": ["24 km", "20 km", "12 km"],
        "spacing": "100 m",
        "geography": {"origin": [-118.05, 33.80]},
    },
    "time": {"duration": "20 s", "step": "auto"},
    "medium": {"kind": "layered", "layers": LAYERS},
    "attenuation": {"model": "power-law", "exponent": 0.6, "band": ["0.1 Hz", "10 Hz"]},
    "boundary": {"top": "free-surface", "sides": "pml", "width": 10},
    "source": [SOURCE],
    "receiver": [
        {"network": "CI", "name": "OLI", "longitude": -117.9, "latitude": 33.9},
        {"name": "P1", "x": "2 km", "y": 3000, "depth": "10 m"},
    ],
    "output": {
        "directory": "results",
        "seismograms": {"interval": "0.02 s", "formats": ["hdf5", "sac", "mseed"]},
        "surface": {"interval": "0.1 s", "stride": 2},
        "volumes": {"interval": "1 s", "fields": ["vx", "szz"]},
    },
    "run": {"backend": "cuda", "precision": "double", "checkpoint": {"steps": 1000}},
}


def changed(**changes: Any) -> dict[str, Any]:
    """The valid case with values put at paths such as `source__0__depth`."""
    return changed_content(VALID, changes)


def build(content: dict[str, Any], folder: Path | str = "") -> schema.EarthquakeCase:
    return schema.EarthquakeCase.from_dict(content, folder)


def problems(content: dict[str, Any], folder: Path | str = "") -> list[CaseProblem]:
    with pytest.raises(CaseError) as caught:
        build(content, folder)
    return list(caught.value.problems)


def only_problem(content: dict[str, Any], folder: Path | str = "") -> CaseProblem:
    found = problems(content, folder)
    assert len(found) == 1, found
    return found[0]

"""A small region with a station and a rupture, for runs with forces and with the rupture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.formats.srf import write_srf
from groundswell.seismology.formats.srf_content import Srf

DT, SIGMA = 0.008, 0.03  # s; the force is not resolved, but filters forward runs alike
DELAY = 22.5 * DT  # s, of the force: when forces act
STATION = {"x": 910.0, "y": 380.0, "depth": 0.0}
HERE = (-117.9946, 34.0045)  # where the rupture starts
PLACE = {"x": 530.0, "y": 620.0, "depth": 430.0}
LAYERS = [
    {"top": 0.0, "vp": 2200.0, "vs": 1100.0, "rho": 2000.0, "qp": 60, "qs": 30},
    {"top": 230.0, "vp": 4000.0, "vs": 2300.0, "rho": 2600.0, "qp": 100, "qs": 50},
]
SECTIONS: dict[str, Any] = {
    "title": "small",
    "grid": {"size": [1400.0, 1200.0, 1000.0], "spacing": 100.0},
    "time": {"duration": 0.8, "step": DT},
    "medium": {"kind": "layered", "layers": LAYERS},
    "attenuation": {"model": "constant"},
    "boundary": {"sides": "pml", "width": 4},
    "run": {"precision": "double"},
}


def make_rupture(path: Path) -> Path:
    """Write an SRF file of six subfaults with slip along both directions of their plane."""
    rng, count, rates = np.random.default_rng(4), 6, 14
    along, down = np.meshgrid(np.arange(3), np.arange(2))
    longitude = HERE[0] + 1.8e-3 * along.ravel()
    counts = np.tile([rates, rates, 0], (count, 1))
    slip_rates = np.hanning(rates) * rng.uniform(-1, 2, (count, 2, 1))
    onset = 0.05 + 0.017 * np.arange(count)
    write_srf(
        path,
        Srf(
            longitude,
            np.full(count, HERE[1]),
            600.0 + 120.0 * down.ravel(),
            *(np.full(count, value) for value in (80.0, 60.0, 30.0, 4e4)),
            onset,
            np.full(count, 0.0123),
            np.column_stack([0.0123 * slip_rates.sum(axis=2), np.zeros(count)]),
            counts,
            slip_rates.ravel(),
            *(np.full(count, np.nan),) * 2,
        ),
    )
    return path


def rupture_section(path: Path) -> dict[str, Any]:
    return {"kind": "srf", "file": str(path), **PLACE, "azimuth": 25.0}


def force_case(axis: int, recorded: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """The content of a case with a force at the station, which records strain."""
    force = [0.0, 0.0, 0.0]
    force[axis] = 1e10
    source = {"kind": "force", **STATION, "force": force}
    source["time_function"] = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
    output = {"shaking_map": False, "strain_green_tensor": {"station": "S", **recorded}}
    return {"solver": "earthquake", **SECTIONS, "source": [source], "output": output, **sections}


def rupture_case(path: Path, **sections: Any) -> dict[str, Any]:
    """The content of a case with the rupture and a receiver at the station."""
    given = {"source": [rupture_section(path)], "receiver": [{"name": "S", **STATION}]}
    return {
        "solver": "earthquake",
        **SECTIONS,
        **given,
        "output": {"shaking_map": False},
        **sections,
    }


def filtered(folder: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Seismograms of a run, convolved with the force's time function: times, and (3, n)."""
    found = read_seismograms(folder / "seismograms.h5")
    when = DT * (np.arange(round((DELAY + 6 * SIGMA) / DT) + 1) + 0.5)
    force = np.exp(-0.5 * ((when - DELAY) / SIGMA) ** 2) * (when <= DELAY + 6 * SIGMA)
    count = found.sizes["time"]
    traces = [np.convolve(trace, force / force.sum())[:count] for trace in found.values[0]]
    return found["time"].values - (DELAY - DT / 2), np.array(traces)

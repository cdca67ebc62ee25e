"""Facts about a run that its results need later: uniform properties, sources and their signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from groundswell.arrays import Floats
from groundswell.solvers.ultrasound.media.case import PROPERTIES
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.source_case import SampledSignal, Shape, SourceSection
from groundswell.solvers.ultrasound.transducers import Surface
from groundswell.solvers.ultrasound.wave_setup import WaveSetup

FACTS = "run_facts"  # their key in the quantities of a case
SAMPLES = 4096  # of a pulse, from which its duration is computed
PART = 0.8  # from 10 to 90 % of the integral of the squared signal


def run_facts(setup: WaveSetup) -> dict[str, Any]:
    """The facts, serialisable as JSON.

    Returns:
        `uniform`: the properties that are the same everywhere, as in `medium.nc`, and the `power`
        of the absorption; `sources`: shapes, amplitudes and signals without samples;
        `image`: the NIfTI file of the medium, with `axes` and `offset`, or None;
        `is_continuous`: whether all sources emit continuous waves; `pulse_duration`, s, or None.
    """
    sections = setup.source_sections
    return {
        "uniform": _uniform(setup.materials),
        "sources": [_table(section) for section in sections],
        "image": _image(setup),
        "is_continuous": bool(sections) and all(s.signal.kind == "sine" for s in sections),
        "pulse_duration": _pulse_duration(sections),
    }


def _uniform(medium: AcousticMedium) -> dict[str, float]:
    values = {name: getattr(medium, name) for name in PROPERTIES}
    same = {name: float(value) for name, value in values.items() if np.ndim(value) == 0}
    return {**same, "power": float(medium.power)}


def _image(setup: WaveSetup) -> dict[str, Any] | None:
    """The NIfTI file of the medium, and its position."""
    file = getattr(getattr(setup.case, "medium", None), "file", None)
    if file is None or not file.is_nifti:
        return None
    return {"file": str(file.file), "axes": list(file.axes), "offset": list(file.offset)}


def _table(section: SourceSection) -> dict[str, Any]:
    """The keys of a source that pictures and numbers need; the points of a mask are left out."""
    keys = {"shape", "elements", "pressure", "velocity", "signal"}
    skipped: dict[str, Any] = {"signal": {"values", "file"}}
    if section.mask is not None:
        skipped["shape"] = {"indices", "file"}
    return section.model_dump(mode="json", include=keys, exclude=skipped, exclude_none=True)


def _pulse_duration(sections: Sequence[SourceSection]) -> float | None:
    """The duration of the pulse that all sources emit, s; None for others."""
    signals = [section.signal for section in sections]
    if not signals or any(each != signals[0] for each in signals[1:]):
        return None
    if isinstance(signals[0], SampledSignal) or isinf(signals[0].signal.duration):
        return None
    times = np.linspace(0.0, signals[0].signal.duration, SAMPLES)
    return pulse_duration(times, signals[0].signal.at(times))


def pulse_duration(times: Floats, values: Floats) -> float:
    """1.25 times the time in which the integral of the square grows from 10 to 90 %, s.

    This is the pulse duration of IEC 62127-1 and of the FDA's guidance on diagnostic ultrasound.
    """
    total = np.cumsum(np.square(values))
    first, last = np.interp([0.5 - PART / 2, 0.5 + PART / 2], total / total[-1], times)
    return float((last - first) / PART)


def surfaces_of(facts: Mapping[str, Any]) -> list[Surface]:
    """The surfaces of all sources but masks."""
    shapes = [
        shape
        for source in facts["sources"]
        for shape in source.get("elements") or [source["shape"]]
        if shape["kind"] != "mask"
    ]
    read: TypeAdapter[Any] = TypeAdapter(Shape)
    return [surface for shape in shapes for surface in read.validate_python(shape).elements]

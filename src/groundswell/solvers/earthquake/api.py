"""The Python interface: simulates an earthquake in a model given as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from groundswell.seismology.model import Model as Model
from groundswell.seismology.model import Receivers, Table, case_in_model, simulate_in_model
from groundswell.seismology.model import SimulationOptions as SimulationOptions
from groundswell.simulation.result import Result
from groundswell.solvers.earthquake.case import EarthquakeCase


def build_case(
    model: Model,
    sources: Sequence[Table],
    receivers: Receivers = (),
    *,
    duration: float | str,
    **case: object,
) -> EarthquakeCase:
    """The case that `simulate` runs with these arguments, for `groundswell.check`.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> vs = np.full((20, 30, 30), 2000.0)
    >>> model = gs.earthquake.Model(1.8 * vs, vs, rho=2500.0, spacing=100.0)
    >>> blast = {"kind": "explosion", "x": 1500, "y": 1500, "depth": "1 km", "magnitude": 4}
    >>> pulse = {"kind": "cosine", "rise": "0.5 s"}
    >>> case = gs.earthquake.build_case(model, [{**blast, "time_function": pulse}], duration="1 s")
    >>> gs.check(case)["problems"]
    []

    Raises:
        CaseError: the case is invalid; lists every problem.
    """
    return case_in_model(EarthquakeCase, model, sources, receivers, duration=duration, **case)


def simulate(
    model: Model,
    sources: Sequence[Table],
    receivers: Receivers = (),
    *,
    duration: float | str,
    **options: Unpack[SimulationOptions],
) -> Result:
    """Compute the ground motion of an earthquake in a model.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> vs = np.full((20, 30, 30), 2000.0)
    >>> model = gs.earthquake.Model(1.8 * vs, vs, rho=2500.0, spacing=100.0)
    >>> pulse = {"kind": "cosine", "rise": "0.5 s"}
    >>> source = {"kind": "explosion", "x": 1500, "y": 1500, "depth": "1 km", "magnitude": 4}
    >>> station = {"name": "TOP", "x": 1500, "y": 1500}
    >>> result = gs.earthquake.simulate(
    ...     model, [{**source, "time_function": pulse}], [station], duration="1 s"
    ... )
    >>> up = result.seismograms.sel(station="TOP", component="Z")
    >>> bool(up.max() > 0)  # an explosion lifts the ground
    True
    >>> result.shaking_map["pgv"].shape
    (30, 30)

    Args:
        model: the medium; x, y and depth of sources and receivers are relative to its corner.
        sources: tables with the keys of `[[source]]` in a case file. Quantities are numbers in SI
            units or text such as "5 km"; angles are in degrees.
        receivers: tables with the keys of `[[receiver]]`, or the path of a file as in
            `[receivers]`.
        duration: time at which the run ends, s, counted from time 0. The run starts earlier if a
            source does.
        options: `folder` for the results, `overwrite` and `quiet`; `step`, `backend` ("cpu" or
            "cuda") and `precision` ("single" or "double"); and other sections of a case file, as
            tables: `attenuation`, which a model with Q needs, `boundary`, `output`, `event`, and
            the text `title`. `SimulationOptions` has their defaults.

    Returns:
        `result.seismograms`, an `xarray.DataArray` (station, component, time) in m/s along true
        east, north and up; `result.stream`, the same for ObsPy; `result.shaking_map`, an
        `xarray.Dataset` (y, x) of `pgv` (m/s) and `pga` (m/s^2); `result.fields` and
        `result.records`, recorded fields; `result.summary`; `result.folder`.

    Raises:
        InputError: an argument is invalid; nothing has been written.
        RunFailed: the run started but could not finish.
    """
    return simulate_in_model(
        EarthquakeCase, model, sources, receivers, duration=duration, **options
    )

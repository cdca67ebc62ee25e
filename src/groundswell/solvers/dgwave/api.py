"""Python interface of DG waves: `simulate` takes a medium as arrays, sources and receivers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from groundswell.seismology.model import Model as Model
from groundswell.seismology.model import Receivers, Table, case_in_model, simulate_in_model
from groundswell.seismology.model import SimulationOptions as SimulationOptions
from groundswell.simulation.result import Result
from groundswell.solvers.dgwave.case import DgWaveCase


def build_case(
    model: Model,
    sources: Sequence[Table],
    receivers: Receivers = (),
    *,
    duration: float | str,
    **case: object,
) -> DgWaveCase:
    """Build the case that `simulate` runs, for `check` and `Simulation`; see `simulate`.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> vs = np.full((5, 6, 6), 2000.0)
    >>> model = gs.dgwave.Model(1.8 * vs, vs, rho=2500.0, spacing=500.0)
    >>> blast = {"kind": "explosion", "x": 1500, "y": 1500, "depth": "1 km", "magnitude": 4}
    >>> pulse = {"kind": "cosine", "rise": "0.5 s"}
    >>> case = gs.dgwave.build_case(model, [{**blast, "time_function": pulse}], duration="1 s")
    >>> gs.check(case)["problems"]
    []

    Raises:
        CaseError: the case is invalid; the error lists all violations.
    """
    return case_in_model(DgWaveCase, model, sources, receivers, duration=duration, **case)


def simulate(
    model: Model,
    sources: Sequence[Table],
    receivers: Receivers = (),
    *,
    duration: float | str,
    **options: Unpack[SimulationOptions],
) -> Result:
    """Compute acoustic or elastic waves in a model; each cell of the model is an element.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> vs = np.zeros((4, 5, 8))  # depth, y, x: 200 m of water over rock
    >>> vs[2:] = 1500.0
    >>> water = vs == 0
    >>> model = gs.dgwave.Model(
    ...     np.where(water, 1500.0, 2800.0), vs, np.where(water, 1000.0, 2300.0), spacing=100.0
    ... )
    >>> shot = {"kind": "airgun", "x": 150, "y": 250, "depth": 8, "strength": "20 bar m"}
    >>> pulse = {"kind": "ricker", "frequency": "5 Hz"}
    >>> node = {"kind": "ocean-bottom-node", "name": "N1", "x": 650, "y": 250, "depth": 200}
    >>> result = gs.dgwave.simulate(
    ...     model, [{**shot, "time_function": pulse}], [node], duration="0.3 s",
    ...     boundary={"width": 2}, output={"final_fields": True},
    ... )
    >>> result.pressure.sel(station="N1").units
    'Pa'
    >>> bool(abs(result.fields["vz"]).max() > 0)
    True

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
            tables: `method`, which contains the degree of the elements, `attenuation`, which a
            model with Q needs, `boundary`, `refinement`, `topography`, `output`, `event`, and the
            text `title`. `SimulationOptions` has their defaults.

    Returns:
        `result.seismograms`, an `xarray.DataArray` (station, component, time) in m/s along true
        east, north and up; `result.pressure`, the pressure at hydrophones and ocean-bottom nodes,
        (station, time), Pa; `result.stream`, both for ObsPy; `result.shaking_map`, an
        `xarray.Dataset` (y, x) of `pgv` (m/s) and `pga` (m/s^2); `result.fields`, an
        `xarray.Dataset` (element, node) of all fields at the end, if `output.final_fields` is set;
        `result.records`, recorded fields; `result.summary`; `result.folder`.

    Raises:
        InputError: the input is invalid; nothing has been written.
        RunFailed: the run started and failed.
    """
    return simulate_in_model(DgWaveCase, model, sources, receivers, duration=duration, **options)

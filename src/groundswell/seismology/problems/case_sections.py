"""Tables of a case, and the worst misfit of seismograms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from groundswell.arrays import Floats
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.reference.misfit import envelope_misfit, phase_misfit
from groundswell.verify import needs

Table = dict[str, Any]

needs_misfits = needs("obspy", extra="seismology")


def point(position: Iterable[float], history: Table, **source: object) -> Table:
    """A `[[source]]` table of a source at (x, y, depth), m."""
    x, y, depth = map(float, position)
    return {"x": x, "y": y, "depth": depth, "time_function": history, **source}


def receivers(positions: Iterable[Iterable[float]]) -> list[Table]:
    """The `[[receiver]]` tables of positions (x, y, depth), m."""
    return [
        {"name": f"R{n}", "x": float(x), "y": float(y), "depth": float(z)}
        for n, (x, y, z) in enumerate(positions)
    ]


def layered_medium(layers: Iterable[Layer]) -> Table:
    """The `[medium]` table of a stack of layers."""
    given = [{k: v for k, v in vars(layer).items() if v is not None} for layer in layers]
    return {"kind": "layered", "layers": given}


# A case must have a source; the effect of this one is below rounding errors.
SILENCE = point(
    (0, 0, 0), {"kind": "gaussian", "sigma": 1.0}, kind="force", force=[1e-300, 0.0, 0.0]
)


def worst_misfits(
    series: Iterable[Floats], exact: Iterable[Floats], time: Floats, band: tuple[float, float]
) -> tuple[float, float]:
    """Largest envelope and phase misfit, %, of any component of any receiver, (receivers, 3, n).

    Misfits are relative to the strongest component of each receiver.
    """
    step = float(time[1] - time[0])
    pairs = list(zip(series, exact, strict=True))
    envelope = max(envelope_misfit(a, b, step, band).max() for a, b in pairs)
    phase = max(phase_misfit(a, b, step, band).max() for a, b in pairs)
    return 100 * float(envelope), 100 * float(phase)

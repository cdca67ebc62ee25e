"""What the command `heat` prints."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.solvers.ultrasound.heat.dose import LESION
from groundswell.solvers.ultrasound.heat.treatment import Heat
from groundswell.solvers.ultrasound.units import MM, place_text


def lines_of(found: Heat) -> Iterator[str]:
    """Yield the numbers of a treatment, and warnings."""
    axes = len(found.position)
    size, unit = found.lesion_size / MM**axes, "mm²" if axes == 2 else "mm³"
    yield f"peak temperature  {found.peak_temperature:.2f} °C at {place_text(found.position)}"
    yield f"lesion            {size:.4g} {unit} with {LESION:g} CEM43 or more"
    yield f"largest dose      {float(found.fields['dose'].max()):.4g} CEM43"
    yield from (f"Warning: {text}" for text in found.warnings)

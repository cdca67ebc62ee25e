"""`[output.strain_green_tensor]`: the strain at points due to a point force at a station."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from groundswell.case.common import DataFile, NotEmpty, Section, TaggedUnion, exactly_one
from groundswell.case.problems import Violation
from groundswell.case.recording import Coordinates
from groundswell.seismology.case.events import EventFile
from groundswell.seismology.case.outputs import Interval
from groundswell.seismology.case.receivers import station_code
from groundswell.seismology.case.sources import FspRupture, SrfRupture

PointFile = Annotated[SrfRupture | FspRupture | EventFile, TaggedUnion()]


class StrainGreenTensorOutput(Section):
    """Strain at points due to a force at a station, for `groundswell synthesize`.

    The points are `positions` (x, y, depth), those of a `file` (a table, or the `rupture.nc` of a
    run), or the subfaults of a `rupture`, a finite fault as in `[[source]]`. Instead of the tensor,
    `components = "shear"` records the shear strains of the fault plane along strike and up dip. The
    interval is rounded to whole time steps; without one, every step is recorded.
    """

    station: Annotated[str, Field(min_length=1), AfterValidator(station_code)]
    """Code of the station at which the force acts."""
    network: Annotated[str, AfterValidator(station_code)] = ""
    """Code of its network."""
    positions: Annotated[tuple[Coordinates, ...], NotEmpty] | None = None
    """Points at which strain is recorded, each as x, y and depth."""
    file: DataFile | None = None
    """File of these points: a table (CSV) with x, y (m) or longitude, latitude, and depth (m), with
    strike and dip for shear strains; or the rupture.nc of a run."""
    rupture: PointFile | None = None
    """Finite fault or events, as in a source, whose subfaults are these points."""
    components: Literal["tensor", "shear"] = "tensor"
    """All six strains, or the shear strains of the fault plane along strike and up dip, a third of
    the values."""
    interval: Interval | None = None
    """Time between samples, rounded to whole steps; every step by default."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly one list of points, or shear strains at positions without fault planes."""
        yield from exactly_one(self, "positions", "file", "rupture")
        has_planes = not self.positions and not isinstance(self.rupture, EventFile)
        if self.components == "shear" and not has_planes:
            yield (
                ("components",),
                'must be "tensor" with positions and events, which have no fault plane; give a '
                "file with strike and dip, or a rupture in SRF or FSP",
            )

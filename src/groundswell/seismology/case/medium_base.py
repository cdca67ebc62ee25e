"""Keys of every kind of medium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from groundswell.case.common import Section
from groundswell.case.problems import Violation
from groundswell.case.units import Density, Positive, Speed

VsRule = Literal["brocher", "poisson", "fluid"]
RhoRule = Literal["brocher"]
QRule = Literal["awp"]


class FloorSection(Section):
    """`floor = { vs = "500 m/s" }`: lower bounds on the properties of the model."""

    vp: Annotated[Speed, Positive] | None = None
    """Lowest P wave speed; smaller values are raised to it."""
    vs: Annotated[Speed, Positive] | None = None
    """Lowest S wave speed; smaller values are raised to it."""
    rho: Annotated[Density, Positive] | None = None
    """Lowest density; smaller values are raised to it."""

    def violations(self) -> Iterator[Violation]:
        """A floor without any bound."""
        if not self.model_fields_set:
            yield (), "give a bound on vp, vs or rho, or leave the floor out"


class MediumBase(Section):
    """Keys of every kind of medium."""

    floor: FloorSection | None = None
    """Lower bounds on the properties. `check` counts the cells that they change."""

    @property
    def has_q(self) -> bool | None:
        """Whether the medium has quality factors; None if that depends on its file."""
        return None

"""Initial stress of `[[fault]]`: normal and shear stress, or a tensor and fluid pressure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from groundswell.case.common import Section
from groundswell.case.problems import Violation
from groundswell.seismology.case.fault_values import FaultValue, Varying

NORMAL = Varying("Pa", "a pressure", "120 MPa", least=0.0, cure="compression is positive in normal")
SHEAR = Varying("Pa", "a pressure", "70 MPa", least=0.0, cure="rake gives the direction")
RAKE = Varying("deg", "an angle", "180 deg")
COMPONENT = Varying("Pa", "a pressure", "-120 MPa")
FLUID = Varying("Pa", "a pressure", "50 MPa", least=0.0)

Component = Annotated[FaultValue, COMPONENT]
_TRACTION = ("normal", "shear", "rake")


class TensorSection(Section):
    """The stress tensor in the frame of the grid, x east, y north, z down; compression negative."""

    xx: Component
    """Stress east-east, tension positive."""
    yy: Component
    """Stress north-north, tension positive."""
    zz: Component
    """Stress down-down, tension positive."""
    xy: Component
    """Stress east-north."""
    xz: Component
    """Stress east-down."""
    yz: Component
    """Stress north-down."""


class StressSection(Section):
    """Effective normal stress and shear stress along `rake`, or a tensor and the fluid pressure.

    A fault gives all three or the tensor, a patch some of the three or a tensor.
    """

    normal: Annotated[FaultValue | None, NORMAL] = None
    """Effective normal stress, compression positive."""
    shear: Annotated[FaultValue | None, SHEAR] = None
    """Magnitude of the shear stress."""
    rake: Annotated[FaultValue | None, RAKE] = None
    """Direction of the shear stress, from strike towards updip."""
    tensor: TensorSection | None = None
    """Stress tensor in the frame of the grid, instead of normal, shear and rake."""
    fluid_pressure: Annotated[FaultValue | None, FLUID] = None
    """Pressure of the fluid, which reduces the compression of the tensor."""

    @property
    def given(self) -> dict[str, FaultValue]:
        """The keys that are given."""
        return {name: value for name, value in self if value is not None}

    def violations(self) -> Iterator[Violation]:
        """Both forms at once, or a fluid pressure without a tensor."""
        for name in _TRACTION:
            if self.tensor and getattr(self, name) is not None:
                yield (name,), "follows from the tensor; give normal, shear and rake, or a tensor"
        if self.fluid_pressure is not None and not self.tensor:
            yield ("fluid_pressure",), "is for a tensor; subtract it from normal, and leave it out"

    def missing(self) -> Iterator[Violation]:
        """Yield the keys that a fault must have."""
        if self.tensor:
            return
        if not self.given:
            yield (), "give normal, shear and rake, or a tensor"
            return
        for name in _TRACTION:
            if getattr(self, name) is None:
                expected = next(iter(type(self).model_fields[name].metadata)).expected
                yield (name,), f"is required; give {expected}"

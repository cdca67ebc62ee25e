"""Parameters of the friction laws of `[[fault]]`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, ClassVar

from groundswell.case.common import Section
from groundswell.case.problems import Violation
from groundswell.errors import quoted
from groundswell.seismology.case.fault_values import FaultValue, Varying

_OPTIONAL = FaultValue | None

Coefficient = Annotated[_OPTIONAL, Varying("", "a plain number", "0.6", least=0.0)]
PositiveNumber = Annotated[_OPTIONAL, Varying("", "a plain number", "0.6", None, 0.0, True)]
Distance = Annotated[_OPTIONAL, Varying("m", "a length", "0.4 m", None, 0.0, True)]
Rate = Annotated[_OPTIONAL, Varying("m/s", "a speed", "1e-6 m/s", None, 0.0, True)]
HealingSpeed = Annotated[_OPTIONAL, Varying("m/s", "a speed", "1 mm/s", least=0.0)]
Cohesion = Annotated[_OPTIONAL, Varying("Pa", "a pressure", "0.2 MPa", least=0.0)]


class FrictionSection(Section):
    """Parameters of a law. A patch gives some of them, a fault all but those with defaults.

    Attributes:
        has_state: whether friction depends on a state, whose initial value follows from a rate.
        defaults: values of parameters that a fault need not give.
    """

    has_state: ClassVar[bool] = True
    defaults: ClassVar[dict[str, float]] = {"cohesion": 0.0}

    @property
    def given(self) -> dict[str, FaultValue]:
        """The parameters that are given, by name."""
        return {name: value for name, value in self if value is not None}


class SlipWeakeningFriction(FrictionSection):
    """Friction that falls linearly with slip, within `distance`, from static to dynamic.

    It recovers where the slip rate falls below `healing_speed`. A fault needs `static`, `dynamic`
    and `distance`, a patch those that differ.
    """

    has_state: ClassVar[bool] = False
    defaults: ClassVar[dict[str, float]] = {"cohesion": 0.0, "healing_speed": 0.0}

    static: Coefficient = None
    """Static coefficient of friction."""
    dynamic: Coefficient = None
    """Dynamic coefficient of friction."""
    distance: Distance = None
    """Slip over which friction falls from static to dynamic."""
    cohesion: Cohesion = None
    """Strength without normal stress; 0 by default."""
    healing_speed: HealingSpeed = None
    """Slip rate below which friction recovers; 0, never, by default."""


class RateAndStateFriction(FrictionSection):
    """Friction f0 + a ln(V / V0) + b ln(V0 theta / L) at slip rate V and state theta, regularised.

    The parameters are a (`direct`), b (`evolution`), L (`length`), f0 (`reference_friction`) and V0
    (`reference_speed`). A fault needs all of them, a patch those that differ.
    """

    direct: PositiveNumber = None
    """Parameter a, of the direct effect."""
    evolution: PositiveNumber = None
    """Parameter b, of the evolution effect."""
    length: Distance = None
    """Characteristic slip distance L."""
    reference_friction: PositiveNumber = None
    """Friction f0 at the reference speed."""
    reference_speed: Rate = None
    """Reference slip rate V0."""
    cohesion: Cohesion = None
    """Strength without normal stress; 0 by default."""


class FastWeakeningFriction(RateAndStateFriction):
    """Rate-and-state friction that falls to `weakened_friction` above `weakening_speed`.

    A fault needs all parameters but `cohesion`, a patch those that differ.
    """

    weakened_friction: Coefficient = None
    """Friction f_w at high slip rates."""
    weakening_speed: Rate = None
    """Slip rate V_w above which friction falls to it."""


LAWS: dict[str, type[FrictionSection]] = {
    "slip-weakening": SlipWeakeningFriction,
    "ageing": RateAndStateFriction,
    "slip": RateAndStateFriction,
    "fast-weakening": FastWeakeningFriction,
}


FRICTIONS = (
    ('law = "slip-weakening"', SlipWeakeningFriction),
    ('law = "ageing" or "slip"', RateAndStateFriction),
    ('law = "fast-weakening"', FastWeakeningFriction),
)  # by the law of the fault


def missing_parameters(friction: FrictionSection) -> Iterator[Violation]:
    """Yield the parameters that a fault must have."""
    for name, value in friction:
        if value is None and name not in friction.defaults:
            yield (name,), f"is required; give {varying(friction, name).expected}"


def foreign_parameters(law: str, given: Iterable[object]) -> Iterator[Violation]:
    """Yield a violation if some of the given keys are parameters of other laws only."""
    own = LAWS[law].model_fields
    for other, section in LAWS.items():
        foreign = [str(key) for key in given if key in section.model_fields and key not in own]
        if foreign:
            yield (
                (),
                f"has {', '.join(foreign)} of law = {quoted(other)}; the parameters of law = "
                f"{quoted(law)} are: {', '.join(own)}",
            )
            return


def varying(section: Section, name: str) -> Varying:
    """What values of a key may be."""
    metadata = type(section).model_fields[name].metadata
    return next(entry for entry in metadata if isinstance(entry, Varying))

"""The figures of docs/accuracy.md and of the guides are those that `groundswell verify` prints.

Rows that are not here need a GPU or a quarter of an hour.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from variants import short_and_long

from groundswell.backends import open_backend
from groundswell.verify import Check, load_problem

DOCS = Path(__file__).parents[2] / "docs"
ON_FACES = "earthquake/layered_halfspace:interfaces_on_faces"
FUBINI = "ultrasound/nonlinear:fubini"
STRETCHED = "cavity/stretched:square"


@dataclass(frozen=True)
class Figure:
    """A figure on a page, and where it comes from.

    Args:
        problem: the problem that computes it.
        check: a text in the name of its first check.
        page: the page, without its ending.
        row: a text of the only line with the figure.
        text: what is around it in the line; # is the figure.
    """

    problem: str
    check: str
    page: str
    row: str
    text: str

    def read(self) -> str:
        """The figure as the page has it."""
        lines = (DOCS / f"{self.page}.md").read_text().splitlines()
        (line,) = (line for line in lines if self.row in line)
        found = re.search(re.escape(self.text).replace(r"\#", r"([\d.]+(?:e-?\d+)?)"), line)
        assert found, line
        return found[1]

    def __str__(self) -> str:
        return f"{self.page}: {self.problem}, {self.check}"

    @property
    def is_per_cent(self) -> bool:
        return "# %" in self.text


QUICK = [
    Figure("earthquake/waves:plane_waves", "P wave", "accuracy", "plane P", "# in space"),
    Figure("earthquake/waves:time_order", "in time", "accuracy", "plane P", "# in time"),
    Figure("earthquake/soil:shear_pulse", "45 cells", "accuracy", "soft soil", "# % for velocity"),
    Figure("dgwave/ruptures:slip_weakening", "slip rate", "accuracy", "uniform f", "| # and"),
    Figure("dgwave/ruptures:slip_weakening", "slip rate", "rupture", "For uniform f", "by # (slip"),
    Figure("dgwave/ruptures:rate_and_state", "slip rate", "accuracy", "uniform f", "and # of"),
    Figure(
        "dgwave/ruptures:rate_and_state", "slip rate", "rupture", "For uniform f", "and # (rate"
    ),
    Figure(
        "dgwave/yielding:shear_pulse", "velocity", "accuracy", "yields, `dg", "# % for velocity"
    ),
    Figure("dgwave/yielding:shear_pulse", "strain", "accuracy", "yields, `dg", "# % for plastic"),
    Figure("ultrasound/heat:gaussian", "steps: 7", "accuracy", "spreads from", "within # of"),
    Figure("ultrasound/heat:sphere", "heated", "accuracy", "spreads from", "# % of the rise"),
    Figure("poisson/conduction:order", "driven wave, order 1", "poisson", "driven wave", "| #, "),
    Figure("poisson/conduction:order", "driven wave, order 3", "poisson", "driven wave", ", # |"),
]
LONG = [
    Figure("earthquake/yielding:shear_pulse", "velocity", "accuracy", "yields, `ea", "| # % for v"),
    Figure("earthquake/fullspace:double_couple", "envelope", "accuracy", "Aki & R", "misfit # %"),
    Figure("earthquake/lamb:vertical_force", "3300 m: env", "accuracy", "Lamb", "misfit # %"),
    Figure("earthquake/sea:sources_below_water", "explosion", "earthquake", "| explosion", "| # %"),
    Figure("earthquake/sea:sources_below_water", "couple", "earthquake", "| explosion", "%, # %"),
    Figure(ON_FACES, "at 200 m", "earthquake", "three layers", "| # %"),
    Figure("dgwave/layered:airgun", "hydrophones", "dgwave", "in the water", "S wavelength | # %"),
    Figure("dgwave/layered:airgun", "velocity", "dgwave", "of the sea floor", "| | # %"),
    Figure(
        "dgwave/methods:finite_differences",
        "envelope",
        "dgwave",
        "layer: envelope",
        "1 | # %",
    ),
    Figure("dgwave/methods:finite_differences", "phase", "dgwave", "| phase", "| | # %"),
    Figure(
        "dgwave/methods:finite_differences", "envelope", "accuracy", "compared with", "fit # %;"
    ),
    Figure("ultrasound/bowl:arc", "largest error", "ultrasound", "on the axis", "at most # %"),
    Figure("ultrasound/bowl:bowl", "largest error", "ultrasound", "on the axis", " %, # %,"),
    Figure("ultrasound/bowl:piston", "largest error", "ultrasound", "on the axis", ", # % of"),
    Figure(
        "ultrasound/interfaces:normal_incidence",
        "bone: refl",
        "ultrasound",
        "water to bone",
        "| # and",
    ),
    Figure(
        "ultrasound/interfaces:normal_incidence",
        "bone: tran",
        "ultrasound",
        "water to bone",
        "and # of",
    ),
    Figure(FUBINI, "harmonic 1", "ultrasound", "four harmonics", "# % to"),
    Figure(FUBINI, "harmonic 4", "ultrasound", "four harmonics", "to # %"),
    Figure(STRETCHED, "Ra = 10000:", "cavity", "Ra 1e4", "number: # %"),
    Figure(STRETCHED, "31^2 points, Ra = 100000:", "cavity", "Ra 1e4", "; # %;"),
    Figure(STRETCHED, "Ra = 1e+06:", "cavity", "Ra 1e4", "; # % |"),
]
FULL = [  # of `verify --full`
    Figure(ON_FACES, "misfit at 100 m", "accuracy", "three layers", "# % at 100 m"),
    Figure(ON_FACES, "misfit at 50 m", "accuracy", "three layers", "# % at 50 m"),
    Figure(ON_FACES, "misfit at 100 m", "earthquake", "three layers", "%, # %,"),
    Figure(ON_FACES, "misfit at 50 m", "earthquake", "three layers", ", # % of the"),
    Figure("dgwave/layered:airgun", "hydrophones", "accuracy", "airgun", "misfit # %"),
    Figure("dgwave/layered:airgun", "velocity", "accuracy", "airgun", "# % for velocity"),
    Figure("dgwave/layered:airgun", "hydrophones", "dgwave", "in the water", "% | # %"),
    Figure("dgwave/layered:airgun", "velocity", "dgwave", "of the sea floor", "% | # %"),
    Figure("dgwave/methods:finite_differences", "envelope", "accuracy", "compared with", "; # %"),
    Figure("dgwave/methods:finite_differences", "envelope", "dgwave", "layer: envelope", "% | # %"),
    Figure("dgwave/methods:finite_differences", "phase", "dgwave", "| phase", "% | # %"),
    Figure(STRETCHED, "Ra = 1e+07:", "cavity", "Ra 1e7", "number: # %;"),
    Figure(STRETCHED, "Ra = 1e+08:", "cavity", "Ra 1e7", "; # %"),
]
ERRORS = ("ultrasound/interfaces:normal_incidence", STRETCHED)  # figures are errors, not values


@cache
def checks(problem: str, full: bool) -> list[Check]:
    return list(load_problem(problem)(open_backend("cpu"), full))


def last_digit(text: str) -> float:
    """What one more in the last digit of a number is worth: 0.1 for "4.0", 1e-9 for "3e-9"."""
    mantissa, _, exponent = text.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def require(figure: Figure, full: bool) -> None:
    check = next(each for each in checks(figure.problem, full) if figure.check in each.name)
    said = figure.read()
    value = check.value
    if figure.problem in ERRORS:
        value = abs(value - (check.reference or 0))
    per_cent = 100 if figure.is_per_cent and check.unit != "%" else 1
    assert abs(float(said) - per_cent * value) <= 0.501 * last_digit(said)


@pytest.mark.parametrize("figure", short_and_long([*QUICK, *LONG], LONG), ids=str)
def test_the_page_has_the_figure_of_the_command(figure: Figure) -> None:
    require(figure, full=False)


@pytest.mark.full
@pytest.mark.parametrize("figure", FULL, ids=str)
def test_the_page_has_the_figure_of_the_full_command(figure: Figure) -> None:
    require(figure, full=True)


# Figures that are bounds: of several checks, whose names a pattern matches.
BOUNDS = [
    (Figure("ultrasound/waves:power_law", r"y = (1\.[1-9]|2).*: absorption", "accuracy",
            "y = 1.1 to 2", "| within # %"), 3, False),
    (Figure("ultrasound/waves:power_law", r"y = (1\.[1-9]|2).*: dispersion", "accuracy",
            "y = 1.1 to 2", "; within # %"), 3, False),
    (Figure("poisson/coefficients:layered_plate", "layers across", "poisson", "three layers",
            "| # |"), 6, False),
    (Figure("earthquake/attenuation:quality", r"Q. = (50|100|200), .* request", "accuracy",
            "Q from 0.1", "| within # %"), 6, False),
    (Figure("earthquake/attenuation:quality", r"f\^0.6, along z: Q from the req", "accuracy",
            "Q from 0.1", "; within # %"), 2, False),
    (Figure("cavity/convection:square", "Nu", "accuracy", "heated square", "within # %"), 4, True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("figure", "count", "full"), short_and_long(BOUNDS, BOUNDS[3:]), ids=lambda of: str(of)[:60]
)
def test_errors_are_within_the_bounds_of_the_page(figure: Figure, count: int, full: bool) -> None:
    found = [each for each in checks(figure.problem, full) if re.search(figure.check, each.name)]
    units = {each.unit for each in found}
    per_cent = 100 if figure.is_per_cent and units != {"%"} else 1
    assert len(found) == count
    assert max(abs(each.value) for each in found) * per_cent <= float(figure.read())


@pytest.mark.parametrize(
    ("problem", "check", "row"),
    [
        ("poisson/accuracy:box", "box: error", "smooth u on"),
        ("poisson/coefficients:smooth", "k, robin, curved, order 2: error", "smooth k and c"),
    ],
)
def test_errors_by_degree_are_those_of_the_page(problem: str, check: str, row: str) -> None:
    (found,) = (each for each in checks(problem, False) if each.name.startswith(check))
    errors = [float(text) for text in found.note.split(", ")]
    (line,) = (x for x in (DOCS / "poisson.md").read_text().splitlines() if row in x)
    said = [float(text) for text in line.split("|")[2].partition(";")[0].split(", ")]
    assert said == errors[:-1] and errors[-1] < 2e-14

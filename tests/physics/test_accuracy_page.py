"""The figures of docs/accuracy.md are those that `groundswell verify` prints.

Rows that are not here are of problems that take minutes, need a GPU or `--full`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from variants import short_and_long

from groundswell.backends import open_backend
from groundswell.verify import Check, load_problem

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"

# The problem, the text of its check, the row of the page, and the pattern of the figure in it.
FIGURES = {
    "order in space": ("earthquake/waves:plane_waves", "P wave", "plane P", r"([\d.]+) in space"),
    "order in time": ("earthquake/waves:time_order", "time", "plane P", r"([\d.]+) in time"),
    "soil": ("earthquake/soil:shear_pulse", "45 cells", "soft soil", r"([\d.]+) % for velocity"),
    "slip": ("dgwave/ruptures:slip_weakening", "slip rate", "uniform faults", r"(\S+) and"),
    "state": ("dgwave/ruptures:rate_and_state", "slip rate", "uniform faults", r"and (\S+) of"),
    "rock": (
        "dgwave/yielding:shear_pulse",
        "velocity",
        "that yields, `dgwave`",
        r"([\d.]+) % for v",
    ),
    "strain": (
        "dgwave/yielding:shear_pulse",
        "strain",
        "that yields, `dgwave`",
        r"([\d.]+) % for p",
    ),
    "cells": ("earthquake/yielding:shear_pulse", "velocity", "yields, `earth", r"([\d.]+) % for v"),
    "full space": ("earthquake/fullspace:double_couple", "envelope", "Aki & R", r"([\d.]+) %"),
    "heat": ("ultrasound/heat:gaussian", "steps: 7", "spreads from a", r"within (\S+) of"),
    "sphere": ("ultrasound/heat:sphere", "heated sphere", "heated sphere", r"([\d.]+) % of"),
    "Lamb": ("earthquake/lamb:vertical_force", "3300 m: envelope", "Lamb", r"([\d.]+) %"),
}
LONG = ["cells", "full space", "Lamb"]


@cache
def checks(problem: str) -> list[Check]:
    return list(load_problem(problem)(open_backend("cpu"), False))


def figure(row: str, pattern: str) -> str:
    """A figure in the second column of the only row with a text."""
    (line,) = (line for line in PAGE.read_text().splitlines() if row in line)
    found = re.search(pattern, line.split("|")[2])
    assert found, line
    return found[1]


def last_digit(text: str) -> float:
    """What one more in the last digit of a number is worth: 0.1 for "4.0", 1e-9 for "3e-9"."""
    mantissa, _, exponent = text.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


@pytest.mark.parametrize("name", short_and_long(FIGURES, LONG))
def test_the_page_has_the_figure_of_the_command(name: str) -> None:
    problem, text, row, pattern = FIGURES[name]
    check = next(check for check in checks(problem) if text in check.name)
    said = figure(row, pattern)
    per_cent = 100 if "%" in pattern and check.unit != "%" else 1
    assert abs(float(said) - per_cent * check.value) <= 0.501 * last_digit(said)


@pytest.mark.parametrize(
    ("text", "pattern"), [("absorption", r"^ within (\S+) %"), ("dispersion", r"; within (\S+) %")]
)
def test_errors_are_within_the_bounds_of_the_page(text: str, pattern: str) -> None:
    bound = float(figure("power-law absorption, y = 1.1 to 2", pattern)) / 100
    found = [check for check in checks("ultrasound/waves:power_law") if text in check.name]
    between = [check for check in found if float(check.name.split()[2].strip(":")) >= 1.1]
    assert len(between) == 3 and max(check.value for check in between) <= bound

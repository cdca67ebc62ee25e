"""Quantities of a case: what is read, to which value, and what is refused with which words."""

from __future__ import annotations

import math
import time
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from groundswell.case import units

# Definitions of the units, from the SI brochure (9th edition); not taken from the code under test.
FACTORS = {
    units.Length: {"km": 1e3, "m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "ft": 0.3048},
    units.Time: {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "min": 60.0, "h": 3600.0},
    units.Frequency: {"Hz": 1.0, "kHz": 1e3, "1/s": 1.0, "/s": 1.0, "MHz": 1e6},
    units.Speed: {"km/s": 1e3, "m/s": 1.0, "km / h": 1 / 3.6, "m s^-1": 1.0, "m*s**-1": 1.0},
    units.Density: {"g/cm^3": 1e3, "kg/m^3": 1.0, "kg m^-3": 1.0, "g/cm³": 1e3, "t/m^3": 1e3},
    units.Angle: {"deg": 1.0, "rad": 180 / math.pi, "°": 1.0},
    units.Moment: {"N m": 1.0, "N*m": 1.0, "N·m": 1.0, "dyn cm": 1e-7, "Nm": 1.0, "kNm": 1e3},
    units.Force: {"N": 1.0, "MN": 1e6, "dyn": 1e-5},
    units.Pressure: {"MPa": 1e6, "Pa": 1.0, "bar": 1e5, "N/m^2": 1.0},
}
PAIRS = [(kind, unit, factor) for kind, table in FACTORS.items() for unit, factor in table.items()]


def read(kind: Any, value: Any) -> Any:
    return TypeAdapter(kind).validate_python(value)


def refusal(kind: Any, value: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        read(kind, value)
    return str(caught.value.errors()[0]["msg"])


@given(st.sampled_from(PAIRS), st.floats(-1e12, 1e12), st.sampled_from(["", " ", "  "]))
def test_text_is_converted_to_si(pair: Any, number: float, gap: str) -> None:
    kind, unit, factor = pair
    gap = gap or " " * unit.startswith("1")  # "21/s" is 21 per second
    assert read(kind, f" {number!r}{gap}{unit} ") == pytest.approx(number * factor, rel=1e-14)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (units.Density, "2.67 g/cm^3", 2670.0),
        (units.Speed, "3.18 km/s", 3180.0),
        (units.Moment, "1e18 N m", 1e18),
        (units.Time, "5 ms", 0.005),
        (units.Pressure, "81.6 MPa", 81.6e6),
    ],
)
def test_decimal_text_gives_the_decimal_number(kind: Any, text: str, value: float) -> None:
    assert read(kind, text) == value


@pytest.mark.parametrize("target", units.COMMON)
def test_common_units_are_read_without_pint_and_as_with_it(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for unit, factor in units.COMMON[target].items():
        assert units.converter(unit, target)(1.0) == pytest.approx(factor, rel=1e-15)
    monkeypatch.setattr(units, "converter", pytest.fail)
    for unit, factor in units.COMMON[target].items():
        assert units.Unit(target).read(f"3 {unit}") == pytest.approx(3 * factor, rel=1e-14)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_plain_numbers_are_si(number: float) -> None:
    assert read(units.Length, number) == number


@pytest.mark.parametrize("number", [7, np.float32(7), np.int64(7), np.float64(7)])
def test_numbers_of_any_type_become_floats(number: Any) -> None:
    value = read(units.Length, number)
    assert value == 7.0 and type(value) is float


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("5 s", "is not a length"),
        ("5 km/s", "is not a length"),
        ("5 degC", "is not a length"),
        ("5 dB", "is not a length"),
        ("5 m/m", "is not a length"),
        ("5 m m^-1", "is not a length"),
        ("5 m^0", "is not a number with a unit"),
        ("5 furlongz", 'unknown unit "furlongz"'),
        ("5", "has no unit"),
        ("", "is not a number with a unit"),
        ("km", "is not a number with a unit"),
        ("5,5 km", "is not a number with a unit"),
        ("5 km + 3 m", "is not a number with a unit"),
        ("1e9**9**9 m", "is not a number with a unit"),
        ("9**9**9**9", "is not a number with a unit"),
        ("1 m^99999999", "is not a number with a unit"),
        ("__import__('os') m", "is not a number with a unit"),
        ("5 " + "k" * 100_000 + "m", "is not a number with a unit"),
        ("1" * 1_000_000 + " m", "is not a number with a unit"),
        ("٥ km", "is not a number with a unit"),
        ("nan m", "is not a number with a unit"),
        ("1e999 m", "is not a finite number"),
        ("9e307 km", "is not a finite number"),
        (math.nan, "is not a finite number"),
        (math.inf, "is not a finite number"),
        (10**400, "is not a finite number"),
        (True, "is not a number"),
        (None, "is not a number"),
        (1j, "is not a number"),
        ([5], "is not a number"),
        ({"m": 5}, "is not a number"),
        (np.array([5.0]), "is not a number"),
    ],
)
def test_refusals_are_quick_and_say_what_to_give(value: Any, reason: str) -> None:
    read(units.Length, "1 km")  # loads the table of units
    start = time.perf_counter()
    message = refusal(units.Length, value)
    assert time.perf_counter() - start < 0.2
    assert reason in message
    assert 'a length such as "5 km", or a plain number in m' in message


UNIT_LIKE = st.from_regex(r"\A[0-9]{1,3} ?[A-Za-zµ°]{1,6}([ */][A-Za-z]{1,4}(\^-?[0-9])?){0,3}\Z")


@given(st.one_of(st.text(max_size=80), UNIT_LIKE))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = read(units.Length, text)
    except ValidationError as error:
        assert "a length such as" in str(error)
    else:
        assert math.isfinite(value)


def test_pure_numbers_have_no_unit() -> None:
    assert read(units.Number, 0.6) == 0.6
    assert "without quotes" in refusal(units.Number, "0.6")


def test_bounds_are_annotations() -> None:
    positive = Annotated[units.Length, units.Positive]
    assert read(positive, "1 mm") == 1e-3
    assert "greater than 0" in refusal(positive, "0 m")
    assert "greater than or equal to 0" in refusal(Annotated[units.Time, units.NonNegative], "-1 s")


def test_a_word_may_stand_for_a_number() -> None:
    step = Annotated[Any, units.Unit("s", "a time", "5 ms", word="auto")]
    assert read(step, "auto") == "auto"
    assert read(step, "5 ms") == 0.005
    assert 'give "auto", or a time such as "5 ms"' in refusal(step, "automatic")


@pytest.mark.parametrize("value", [True, 2.0, 2.5, "2", 0, -1, None])
def test_counts_are_whole_and_positive(value: Any) -> None:
    assert read(units.Count, 3) == 3
    refusal(units.Count, value)

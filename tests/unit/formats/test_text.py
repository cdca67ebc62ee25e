"""Numbers in text files."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.formats.text import parse_number, parse_numbers

rng = np.random.default_rng(77)


@pytest.mark.parametrize("letter", "eEdD")
def test_exponents_may_be_those_of_fortran(letter: str) -> None:
    values = rng.normal(size=50) * 10.0 ** rng.integers(-20, 20, size=50)
    text = " ".join(f"{value:.15e}" for value in values).replace("e", letter)
    np.testing.assert_array_equal(
        parse_numbers(text, "a.txt"), [float(f"{v:.15e}") for v in values]
    )
    assert parse_number(f"1.5{letter}+03") == 1500.0 and parse_number(f"2{letter}3") == 2000.0


@pytest.mark.parametrize("token", ["1.5D", "D3", "1.5DD3", "1_5", "0x1D3", "d", "nanD0", "1D999"])
def test_other_letters_are_refused(token: str) -> None:
    with pytest.raises(InputError, match=rf"line 2: '{token}' is not a finite number"):
        parse_numbers(f"1 2\n3 {token}\n", "a.txt")

"""Numbers and lengths in messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundswell import errors
from groundswell.errors import install, metres_or_km, rounded


def test_numbers_of_things() -> None:
    assert rounded(1.0, "spacing") == rounded(1.004, "spacing") == "1 spacing"
    assert rounded(2.48, "spacing") == "2.48 spacings"
    assert rounded(0.81, "spacing", 2) == "0.81 spacings"


def test_lengths_have_no_powers_of_ten() -> None:
    assert metres_or_km(512.34) == "512.3 m" and metres_or_km(-5) == "-5 m"
    assert metres_or_km(9999.4) == "9999 m" and metres_or_km(9999.6) == "10 km"
    assert metres_or_km(11690.0) == "11.7 km"


def test_how_to_install_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert install("mpi") == "in your clone of Groundswell, run pip install -e '.[mpi]'"
    monkeypatch.setattr(errors, "_PROJECT", tmp_path / "pyproject.toml")
    assert install("mpi") == "run pip install 'groundswell[mpi]'"

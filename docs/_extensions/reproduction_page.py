"""The page of published results and measurements, made of the files that are kept for it."""

from __future__ import annotations

from pathlib import Path

from groundswell.reproduction import Options, reproduce, write_pages

MEASURED = Path(__file__).resolve().parents[1] / "performance" / "measured"


def write_page(folder: Path) -> None:
    """Write the page, as `groundswell reproduce --no-run` does, and its pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    found = reproduce(options=Options(folder=folder), merge=[MEASURED], is_measured=False)
    if found is not None:
        write_pages(found, folder)

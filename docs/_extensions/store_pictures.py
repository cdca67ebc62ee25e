"""Runs examples on a machine with a GPU and stores their pictures for the site.

python docs/_extensions/store_pictures.py examples/gallery/gpu/*.py
"""

from __future__ import annotations

import datetime
import runpy
import sys
from pathlib import Path

import matplotlib
from matplotlib import pyplot

from groundswell import open_backend

STORED = Path(__file__).resolve().parents[2] / "examples" / "gallery" / "stored"


def store(script: Path) -> None:
    """Run an example, and store its last picture, the date and the name of the card."""
    pyplot.close("all")
    runpy.run_path(str(script), run_name="__main__")
    STORED.mkdir(exist_ok=True)
    pyplot.gcf().savefig(STORED / f"{script.stem}.png", dpi=100)
    card = open_backend("cuda").device
    facts = f'date = {datetime.date.today().isoformat()}\ncard = "{card}"\n'
    (STORED / f"{script.stem}.toml").write_text(facts)


if __name__ == "__main__":
    matplotlib.use("Agg")
    for each in sys.argv[1:]:
        store(Path(each))

"""Run examples that need a GPU, and store their pictures for the documentation.

    python docs/_extensions/store_pictures.py examples/gallery/gpu/*.py

For each example, the folder `examples/gallery/stored` gets its picture, and a file with the date
and the card, which `stored_pictures.py` shows.
"""

from __future__ import annotations

import datetime
import runpy
import sys
import time
from pathlib import Path

import matplotlib

from groundswell import open_backend

STORED = Path(__file__).resolve().parents[2] / "examples" / "gallery" / "stored"


def store(script: Path) -> None:
    """Run an example, and store its last picture, the date and the name of the card."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    runpy.run_path(str(script), run_name="__main__")
    STORED.mkdir(exist_ok=True)
    pyplot.gcf().savefig(STORED / f"{script.stem}.png", dpi=100)
    card = open_backend("cuda").device
    facts = f'date = {datetime.date.today().isoformat()}\ncard = "{card}"\n'
    (STORED / f"{script.stem}.toml").write_text(facts)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        begun = time.perf_counter()
        store(Path(each))
        print(f"{each}: {time.perf_counter() - begun:.0f} s", flush=True)

"""Pictures of examples that need a GPU: stored with the date and the card of their last run.

In the text of an example, the directive

    .. stored-picture:: gpu_basin

shows `examples/gallery/stored/gpu_basin.png` with a caption from `gpu_basin.toml` beside it.
On a machine with a GPU, this runs the examples and writes both files of each:

    python docs/_extensions/store_pictures.py examples/gallery/gpu/*.py
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

STORED = Path(__file__).resolve().parents[2] / "examples" / "gallery" / "stored"


class StoredPicture(Directive):
    """A stored picture, with the date and the card of the run that drew it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The picture and its caption."""
        name = self.arguments[0]
        if not (STORED / f"{name}.toml").exists():
            return [nodes.paragraph("", "Run it on a GPU to see its picture.")]
        settings = self.state.document.settings
        facts = tomllib.loads((STORED / f"{name}.toml").read_text())
        page = Path(settings.env.doc2path(settings.env.docname))
        picture = nodes.image(uri=os.path.relpath(STORED / f"{name}.png", page.parent), alt=name)
        caption = f"Drawn on {facts['date']:%d %B %Y} on one {facts['card']}."
        return [nodes.figure("", picture, nodes.caption("", caption))]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("stored-picture", StoredPicture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

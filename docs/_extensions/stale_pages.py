"""Pages that an earlier build made of an example, a name or a file that is gone.

Sphinx would still read them, and warn that they are in no table of contents.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

GALLERIES = ("tutorials", "gallery")
MADE = ("index", "sg_execution_times")  # pages that sphinx-gallery writes for each folder


def remove_examples(generated: Path, examples: Path) -> None:
    """Remove the pages of examples that are gone, with the files beside them.

    Args:
        generated: folder of generated pages.
        examples: folder of the tutorials and the gallery.
    """
    for name in GALLERIES:
        for page in [*(generated / name).rglob("*.rst")]:
            source = examples / name / page.relative_to(generated / name).with_suffix(".py")
            if not (source.parent.exists() if page.stem in MADE else source.exists()):
                for file in page.parent.glob(f"{page.stem}.*"):
                    file.unlink()


def remove_others(folder: Path, kept: Container[str]) -> None:
    """Remove the pages of a folder but those with these names, without their endings."""
    for page in folder.glob("*.rst"):
        if page.stem not in kept:
            page.unlink()

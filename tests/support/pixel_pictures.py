"""Pictures of one pixel, for tests of what is around pictures: drawing one takes half a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from PIL import Image

from groundswell.report.pictures import Picture
from groundswell.solvers.earthquake import plots


@contextmanager
def pixels_drawn() -> Iterator[None]:
    """Draw each picture of an earthquake as one pixel, each in a colour of its own."""
    pictures = [_pixel(each, number) for number, each in enumerate(plots.PICTURES)]
    with patch.object(plots, "PICTURES", pictures):
        yield


def _pixel(picture: Picture, number: int) -> Picture:
    def draw(folder: Path) -> Path:
        Image.new("RGB", (1, 1), (number, 0, 0)).save(folder / picture.file)
        return folder / picture.file

    return replace(picture, draw=draw)

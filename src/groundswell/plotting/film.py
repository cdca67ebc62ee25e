"""Films: a figure that changes with time, in MP4 where `ffmpeg` is installed, else in GIF."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.formats.atomic import atomic_write
from groundswell.plotting.style import settle_layout, styled_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

RATE = 10  # frames per second
MOST_FRAMES = 120
_MP4, _GIF = ".mp4", ".gif"
_MP4_DPI, _GIF_DPI = 120, 75  # all frames of a GIF are in memory, and compressed one by one
# The name of an incomplete file does not show the format to ffmpeg. With `faststart`, browsers show
# a film while they load it.
_MP4_OPTIONS = ["-f", "mp4", "-movflags", "+faststart"]

Frames = Iterable[object]  # each item is one frame: the figure as it then is


def film(path: Path, height: float, draw: Callable[[Figure], Frames]) -> Path:
    """Write a film of a figure of standard width and style.

    The film replaces one of the same name in the other format.

    Args:
        path: path of the file; its suffix becomes that of the format.
        height: height in inches, without the headline.
        draw: a generator that draws on the figure, and yields after each change of it. The first
            frame settles the layout. There is at least one.

    Returns:
        The path of the film.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
        subprocess.CalledProcessError: `ffmpeg` fails.
    """
    suffix, other, write = _MP4, _GIF, _write_mp4
    if not _has_ffmpeg():
        suffix, other, write = _GIF, _MP4, _write_gif
    with styled_figure(height) as figure, atomic_write(path.with_suffix(suffix)) as part:
        write(part, figure, _settled(figure, draw(figure)))
    path.with_suffix(other).unlink(missing_ok=True)
    return path.with_suffix(suffix)


def frames_of(count: int) -> range:
    """Samples to show as frames, evenly spaced from the first: at most MOST_FRAMES of `count`."""
    return range(0, count, max(-(-count // MOST_FRAMES), 1))


def clock(times: Floats, unit: str = "s") -> Iterator[str]:
    """Yield times of frames as text, all with so many decimals that their steps look alike.

    Args:
        times: in this unit.
    """
    step = float(np.diff(times).min()) if len(times) > 1 else 1.0
    fewest = max(math.ceil(-math.log10(step)), 0)
    error = float(abs(np.round(times, fewest) - times).max())
    decimals = fewest if error <= 0.2 * step else fewest + 1
    yield from (f"{time:.{decimals}f} {unit}" for time in times)


def _has_ffmpeg() -> bool:
    from matplotlib.animation import FFMpegWriter

    return bool(FFMpegWriter.isAvailable())


def _settled(figure: Figure, frames: Frames) -> Iterator[None]:
    """The frames, all of them with the layout of the first, which takes the most time."""
    for _ in frames:
        settle_layout(figure)
        yield


def _write_mp4(path: Path, figure: Figure, frames: Iterator[None]) -> None:
    from matplotlib.animation import FFMpegWriter

    writer = FFMpegWriter(fps=RATE, codec="h264", extra_args=_MP4_OPTIONS)
    with writer.saving(figure, str(path), dpi=_MP4_DPI):
        for _ in frames:
            writer.grab_frame()


def _write_gif(path: Path, figure: Figure, frames: Iterator[None]) -> None:
    from PIL import Image

    figure.set_dpi(_GIF_DPI)
    images: list[Image.Image] = []
    for _ in frames:
        pixels = _pixels_of(figure)
        # Colour bars show all colours in the first frame already. Dithering would not compress.
        palette = images[0] if images else pixels.quantize()
        images.append(pixels.quantize(palette=palette, dither=Image.Dither.NONE))
    more = {"save_all": True, "append_images": images[1:], "duration": 1000 // RATE, "loop": 0}
    images[0].save(path, format="GIF", **more)


def _pixels_of(figure: Figure) -> Image:
    from PIL import Image

    canvas = figure.canvas
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")  # type: ignore

"""Films: frames, formats, and files that are complete or not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from result_files import names

from groundswell.plotting.film import MOST_FRAMES, clock, film, frames_of

COLOURS = ((200, 30, 30), (30, 160, 30), (30, 30, 200))
# It keeps its options and the frames, which are raw pixels.
FFMPEG = """#!/bin/sh
for last; do :; done
echo "$@" > "${0%/*}/options"
/bin/cat > "$last"
"""


def draw(figure: Figure) -> Iterator[None]:
    axes = figure.subplots()
    axes.set_axis_off()
    image = axes.imshow([COLOURS], aspect="auto")  # all colours are in the first frame
    for colour in COLOURS:
        image.set_data(np.uint8([[colour, *COLOURS[1:]]]))
        yield


def failing(figure: Figure) -> Iterator[None]:
    yield from draw(figure)
    raise ZeroDivisionError


@pytest.fixture
def no_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for results, and an empty one in which programs are found."""
    (tmp_path / "programs").mkdir()
    (tmp_path / "results").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    return tmp_path / "results"


@pytest.fixture
def ffmpeg(no_ffmpeg: Path) -> Path:
    """The same with a stand-in for ffmpeg."""
    program = no_ffmpeg.parent / "programs" / "ffmpeg"
    program.write_text(FFMPEG)
    program.chmod(0o755)
    return no_ffmpeg


def test_a_gif_without_ffmpeg_has_each_frame(no_ffmpeg: Path) -> None:
    (no_ffmpeg / "waves.mp4").write_text("an older film")
    path = film(no_ffmpeg / "waves.mp4", 2.0, draw)
    assert names(no_ffmpeg) == ["waves.gif"] and path == no_ffmpeg / "waves.gif"
    with Image.open(path) as found:
        assert (found.n_frames, found.width, found.info["duration"]) == (3, 800, 100)
        for number, colour in enumerate(COLOURS):
            found.seek(number)
            seen = np.asarray(found.convert("RGB"))[-40:-20, 100:150].reshape(-1, 3)
            # A palette of 256 colours holds these few up to the rounding of its means.
            assert np.abs(np.median(seen, axis=0) - colour).max() <= 3


def test_ffmpeg_gets_each_frame(ffmpeg: Path) -> None:
    (ffmpeg / "waves.gif").write_text("an older film")
    path = film(ffmpeg / "waves.mp4", 2.0, draw)
    assert names(ffmpeg) == ["waves.mp4"] and path == ffmpeg / "waves.mp4"
    options = (ffmpeg.parent / "programs" / "options").read_text().split()
    for pair in (["-vcodec", "h264"], ["-f", "mp4"], ["-framerate", "10"], ["-pix_fmt", "yuv420p"]):
        assert any(options[n : n + 2] == pair for n in range(len(options)))
    width, height = map(int, options[options.index("-s") + 1].split("x"))
    assert width % 2 == height % 2 == 0  # else H.264 is impossible
    frames = np.fromfile(path, np.uint8).reshape(len(COLOURS), height, width, 4)
    for frame, colour in zip(frames, COLOURS, strict=True):
        assert np.array_equal(np.median(frame[-60:-30, 150:220, :3], axis=(0, 1)), colour)


@pytest.mark.parametrize("programs", ["ffmpeg", "no_ffmpeg"])
def test_a_film_that_fails_leaves_nothing(programs: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(programs)
    with pytest.raises(ZeroDivisionError):
        film(folder / "waves.mp4", 2.0, failing)
    assert names(folder) == []


@pytest.mark.parametrize("count", [0, 1, MOST_FRAMES, MOST_FRAMES + 1, 1000])
def test_frames_are_evenly_spaced_and_few(count: int) -> None:
    frames = frames_of(count)
    assert len(frames) == min(count, len(frames)) <= MOST_FRAMES
    if count:
        assert frames[0] == 0 and count - frames[-1] <= frames.step
        assert count <= MOST_FRAMES or len(frames) > MOST_FRAMES / 2


@pytest.mark.parametrize(
    ("times", "texts"),
    [
        ([0.0, 0.05, 0.1], ["0.00 s", "0.05 s", "0.10 s"]),
        ([0.002, 0.006], ["0.002 s", "0.006 s"]),
        ([0.0, 20.0], ["0 s", "20 s"]),
        ([3.0], ["3 s"]),
        ([0.05, 0.15, 0.25], ["0.05 s", "0.15 s", "0.25 s"]),
        ([0.5, 1.5, 2.5], ["0.5 s", "1.5 s", "2.5 s"]),  # 2 s would be there twice
    ],
)
def test_times_have_the_decimals_that_tell_frames_apart(
    times: list[float], texts: list[str]
) -> None:
    assert [*clock(np.array(times))] == texts


@pytest.mark.each_value
@pytest.mark.parametrize("step", [0.0041387, 0.003, 0.25, 0.7, 12.0])
@pytest.mark.parametrize("first", [0.0, 0.5, 7.3])
def test_no_time_is_there_twice(step: float, first: float) -> None:
    texts = [*clock(step * (first + np.arange(40)))]
    assert len({*texts}) == 40

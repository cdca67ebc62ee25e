"""
A marine survey: many shots, and the depth of the sea floor
===========================================================

**Question.** A ship tows an airgun and a line of hydrophones. How deep is the sea, and how fast is
sound in it, from the reflections alone? And what do nodes on the sea floor add?

**Input.** One case of a shot, and a table that says what differs from shot to shot.

**Output.** One store with the records of all shots, SEG-Y files of each shot with positions in the
headers, shot gathers, and the depth.

Shots do not depend on each other, so they run in parallel: six shots take about half a minute on
two cores.
"""

import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray

import groundswell as gs

SHOTS = 6
DEGREE = 4
DEPTH = 400.0  # m, of the water, which we pretend not to know
SPEED = 1500.0  # m/s, of sound in water; the same

folder = Path("results_survey")
folder.mkdir(exist_ok=True)

# %%
# The case of one shot
# --------------------
# Water lies over sediments and rock. To keep the runs short, the region is a strip of one element
# across the line, absorbing layers are one element wide, and sediments and rock are treated as
# fluids, which carry P waves only. The topmost elements are thin, because the gun is close to the
# surface of the sea.

(folder / "shot.toml").write_text(f"""
solver = "dgwave"
title = "One shot"

[grid]
size = ["2.2 km", "100 m", "1 km"]
spacing = ["100 m", "100 m", [50, 50, 100, 100, 100, 150, 150, 150, 150]]

[method]
degree = {DEGREE}

[time]
duration = "1.4 s"

[medium]
kind = "layered"
layers = [
  {{ top = "0 m", vp = {SPEED}, vs = 0, rho = 1000 }},
  {{ top = {DEPTH}, vp = 2000, vs = 0, rho = 1900 }},
  {{ top = "700 m", vp = 3000, vs = 0, rho = 2300 }},
]

[boundary]
top = "free-surface"
width = 1

[[source]]
kind = "airgun"
x = "1.4 km"
y = "50 m"
depth = "10 m"
strength = "20 bar m"
time_function = {{ kind = "ricker", frequency = "5 Hz" }}

[receivers]
file = "shot-1.csv"

[output]
seismograms = {{ interval = "4 ms" }}
""")

# %%
# What differs from shot to shot
# ------------------------------
# The ship sails east and fires every 120 m. The streamer behind it has a hydrophone every 50 m.
# It moves with the ship, so each shot has a list of receivers of its own. Three nodes stay on the
# sea floor.

guns = {f"shot-{n + 1}": 1400.0 + 120.0 * n for n in range(SHOTS)}  # x, m
nodes = {"N1": 600.0, "N2": 1100.0, "N3": 1600.0}
for name, gun in guns.items():
    rows = [f"H{n + 1:02},{gun - 150 - 50 * n},50,12,hydrophone" for n in range(21)]
    rows += [f"{node},{x},50,{DEPTH},ocean-bottom-node" for node, x in nodes.items()]
    (folder / f"{name}.csv").write_text("\n".join(["station,x,y,depth,kind", *rows]))

# %%
# A row of the plan names keys of the case by their path, and gives their values for one run.

rows = [
    {"name": name, "source.0.x": gun, "receivers.file": f"{name}.csv"} for name, gun in guns.items()
]
plan = gs.ensembles.Plan.of(folder / "shot.toml", rows, folder / "survey.zarr")

# %%
# All shots at once
# -----------------
# Each core runs one shot at a time; on GPUs, each card would have several. All go to one store.
# With ``resume``, shots that are in the store already are not repeated: if the survey is
# interrupted, start the script again.
#
# The same from the command line is ``groundswell ensemble run survey.toml``, with the rows in a
# table.

status = gs.ensembles.run(plan, resume=True)
print(status.counts)


def records(shot, result):
    """What a shot has recorded: ``pressure`` or ``seismograms``."""
    return xarray.open_zarr(folder / "survey.zarr" / shot / result)[result].load()


# %%
# SEG-Y files
# -----------
# Programs for processing read SEG-Y. Headers have the positions of gun and receiver, the offset and
# the depth of the water below both.

for number, shot in enumerate(guns, start=1):
    command = [sys.executable, "-m", "groundswell", "export", f"{folder}/survey.zarr/{shot}"]
    options = ["--format", "segy", "--shot", str(number), "--output", f"{folder}/segy/{shot}"]
    subprocess.run(command + options, check=True, stdout=subprocess.DEVNULL)


def header(path, trace, byte, size=4):
    """A number in the header of a trace of a SEG-Y file; bytes count from 1 as in the standard."""
    content = path.read_bytes()
    samples = int.from_bytes(content[3220:3222], "big")
    start = 3600 + trace * (240 + 4 * samples) + byte - 1
    return int.from_bytes(content[start : start + size], "big", signed=True)


last = f"shot-{SHOTS}"
file = folder / "segy" / last / "pressure.segy"
scale = abs(header(file, 0, 71, 2))  # coordinates are multiples of 1 / scale
print(
    f"{file.name} of {last}: record {header(file, 0, 9)}, gun at {header(file, 0, 73) / scale} m,"
)
print(f"first hydrophone at {header(file, 0, 81) / scale} m, offset {header(file, 0, 37)} m")

# %%
# The gathers
# -----------
# One shot on its streamer: the direct wave fades, because the surface of the sea nearly cancels it.
# Reflections from the sea floor and from the rock follow on hyperbolas. A node records all shots
# from below, and the direct wave comes first. Pressure and velocity (up) have the same sign in
# waves that rise, and opposite signs in waves that come down, so both together tell them apart.


def draw_traces(axes, offset, traces, time):
    """Wiggles at their offset, each scaled by its largest value."""
    for at, trace in zip(offset, traces, strict=True):
        axes.plot(at + 40 * trace / abs(trace).max(), time, color="black", linewidth=0.7)
    axes.set(xlabel="offset (m)", ylim=(1.4, 0.2))


pressure = {name: records(name, "pressure") for name in guns}
first = pressure["shot-1"]
time = first["time"].values
towed = (first["kind"] == "hydrophone").values
offsets = guns["shot-1"] - first["x"].values[towed]

figure, panels = plt.subplots(1, 3, figsize=(11, 5), sharey=True, layout="constrained")
draw_traces(panels[0], offsets, first.values[towed], time)
at_node = np.array([guns[name] - nodes["N2"] for name in guns])
draw_traces(panels[1], at_node, [found.sel(station="N2") for found in pressure.values()], time)
up = [records(name, "seismograms").sel(station="N2", component="Z") for name in guns]
draw_traces(panels[2], at_node, up, time)
panels[0].set(title="shot-1: pressure on the streamer", ylabel="time (s)")
panels[1].set_title("node N2, all shots: pressure")
panels[2].set_title("node N2: vertical velocity")

# %%
# The depth and the speed
# -----------------------
# A reflection from a flat sea floor arrives at the time t with t² = t0² + (offset / speed)², where
# t0 = 2 depth / speed. A straight line through t² over offset² gives both. The wavelet of the gun
# has its peak at 0.3 s, and the surface turns it into a trough, so we take the lowest pressure
# after the direct wave.

PEAK = 1.5 / 5  # s, delay of the wavelet's peak
squares = []  # of offset and time, of all shots
for name, found in pressure.items():
    for trace in found[towed]:
        offset = guns[name] - float(trace["x"])
        if offset <= 700:
            # Nothing else arrives in this window.
            window = trace.sel(time=slice(PEAK + offset / SPEED + 0.17, PEAK + 0.78))
            n = int(window.values.argmin()) + np.searchsorted(time, window["time"].values[0])
            curve = np.polyfit(time[n - 1 : n + 2] - time[n], trace[n - 1 : n + 2], 2)
            arrival = time[n] - curve[1] / (2 * curve[0]) - PEAK
            squares.append((offset**2, arrival**2))
x2, t2 = np.array(squares).T
slope, t0_squared = np.polyfit(x2, t2, 1)
speed = 1 / np.sqrt(slope)
depth = speed * np.sqrt(t0_squared) / 2
print(f"speed {speed:.0f} m/s, depth {depth:.0f} m")

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(x2 / 1e6, t2, "o", markersize=4, label="all shots")
line = np.linspace(0, x2.max())
axes.plot(line / 1e6, t0_squared + slope * line, label=f"{speed:.0f} m/s, {depth:.0f} m")
axes.set(xlabel="offset² (km²)", ylabel="time² (s²)")
axes.legend()

# %%
# The check
# ---------
# We know the truth here. The depth follows from all shots together, which share no run, so this
# also checks that each shot has its own gun and receivers. The positions in SEG-Y must be those of
# the plan.

assert status.counts["complete"] == SHOTS
assert abs(speed / SPEED - 1) < 0.02, "the reflection is not that of the sea floor"
assert abs(depth / DEPTH - 1) < 0.02
assert header(file, 0, 73) == round(scale * guns[last]), "SEG-Y has another gun"
assert header(file, 0, 9) == SHOTS

# %%
# What to change next
# -------------------
# - ``vs = 800`` in the sediments: waves turn into S waves at the sea floor, and the elastic
#   equations take about three times as long.
# - A sea floor that is not flat needs a mesh: ``file = "sea.msh"`` in ``[grid]``.
# - A gun's measured signature: ``time_function = { kind = "table", ... }`` and ``strength = "1 bar
#   m"``.
# - On a cluster, ``groundswell ensemble script`` writes a job array; its workers share the store.
# - ``backend = "cuda"`` in ``[run]``: three dimensions and higher frequencies take GPUs.

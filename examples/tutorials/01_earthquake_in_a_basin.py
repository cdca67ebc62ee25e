"""
An earthquake in your own basin, against observed records
=========================================================

**Question.** Seismometers in a sediment basin have recorded an earthquake. Does your model of the
basin explain the records? Would rock alone do?

**Input.** A velocity model, a table of stations, an event file, and the records in miniSEED.

**Output.** Seismograms and a shaking map of each model, and a table of misfits.

The records of this page are *not real*: a finer simulation of the same basin wrote them, so we know
the truth. Everything else is as with your own data. The script takes about a minute on two cores,
and needs ``pip install 'groundswell[seismology]'``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

SPACING = 200.0  # m
FINER = 100.0  # m, of the run that writes the records
DURATION = 10.0  # s
BAND = (0.2, 1.0)  # Hz, of the comparison

folder = Path("results_basin")
folder.mkdir(exist_ok=True)

# %%
# The stations and the event
# --------------------------
# Stations are a table with longitudes and latitudes; StationXML files work, too. Events come from
# agencies as QuakeML, CMTSOLUTION or in other formats. Replace both texts by your own files.

(folder / "stations.csv").write_text(
    """network,station,longitude,latitude,depth
XX,ROCK,-118.038,34.025,0
XX,EDGE,-118.012,34.012,0
XX,BASIN,-117.995,34.000,0
XX,SOUTH,-117.985,33.988,0
"""
)
(folder / "event.cmt").write_text(
    """ PDE 2020 06 01 12 00 00.00  34.0250 -118.0220   3.0 4.5 4.5 BASIN
event name:     BASIN
time shift:      0.6000
half duration:   0.6000
latitude:       34.0250
longitude:    -118.0220
depth:           3.0000
Mrr:       4.000000e+22
Mtt:      -1.200000e+23
Mpp:       8.000000e+22
Mrt:      -2.000000e+22
Mrp:       5.000000e+22
Mtp:      -5.000000e+22
"""
)
event = {"kind": "event", "file": str((folder / "event.cmt").absolute())}

# %%
# The basin
# ---------
# The region is 10 km by 8 km, and 5 km deep. A bowl of sediments, 600 m deep, lies in rock whose
# speed increases with depth. Arrays have the axes depth, y and x. A model from a file would come
# from ``xarray.open_dataset`` through ``gs.earthquake.Model.from_xarray``.

geography = {"center": [-118.0, 34.0]}


def build_model(spacing, basin=True):
    """The ground in cells of an edge, m."""
    nx, ny, nz = (round(length / spacing) for length in (10e3, 8e3, 5e3))
    x, y, z = (spacing * (np.arange(n) + 0.5) for n in (nx, ny, nz))
    depth, y, x = np.meshgrid(z, y, x, indexing="ij")
    vs = 2000.0 + 0.25 * depth  # m/s
    bowl = 600.0 * (1 - ((x - 5500) / 3000) ** 2 - ((y - 3500) / 2500) ** 2)
    if basin:
        vs = np.where(depth < bowl, 800.0, vs)
    rho = np.where(vs < 1000, 2000.0, 2500.0)
    return gs.earthquake.Model(1.8 * vs, vs, rho, spacing=spacing, geography=geography)


# %%
# ``simulate`` takes the model, the sources and the stations.


def simulate(model, name, title):
    """Run a model in a folder of its own."""
    return gs.earthquake.simulate(
        model,
        [event],
        folder / "stations.csv",
        duration=DURATION,
        title=title,
        output={"seismograms": {"interval": 0.02}},
        folder=folder / name,
        overwrite=True,
    )


# %%
# The records
# -----------
# This is the step that nature and a network of seismometers take for you. Remove the instrument
# response from real records first, so that they are in m/s.

observed = simulate(build_model(FINER), "observed", "Stand-in for observations")
observed.export(folder / "records", formats=("mseed",))
records = folder / "records" / "seismograms.mseed"

# %%
# Two models
# ----------
# The first model is rock alone. The second has the basin. ``compare`` filters simulated and
# observed motion alike, and measures the time shift, the correlation, the misfit and the ratio of
# amplitudes of each trace.

models = {"rock": build_model(SPACING, basin=False), "basin": build_model(SPACING)}
results = {name: simulate(model, name, f"Model: {name}") for name, model in models.items()}
found = {name: result.compare(records, band=BAND) for name, result in results.items()}
for name, comparison in found.items():
    print(f"{name}\n{comparison}\n")

# %%
# Rock alone shakes the stations in the basin too little, and too briefly: sediments amplify waves
# and hold them back.

stations = observed.seismograms["station"].values
figure, panels = plt.subplots(len(stations), 1, figsize=(8, 8), sharex=True, layout="constrained")
for axes, station in zip(panels, stations, strict=True):
    for name, result in {"observed": observed, **results}.items():
        trace = result.seismograms.sel(station=station, component="E")
        style = {"color": "black", "linewidth": 2} if name == "observed" else {}
        axes.plot(trace["time"], 100 * trace, label=name, **style)
    axes.set_ylabel(f"{station}\neast (cm/s)")
panels[0].legend()
panels[-1].set_xlabel("time (s)")

# %%
# The map of peak ground velocity shows the outline of the basin.

figure, panels = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
top = float(100 * results["basin"].shaking_map["pgv"].max())
for axes, (name, result) in zip(panels, results.items(), strict=True):
    pgv = 100 * result.shaking_map["pgv"]
    drawn = axes.pcolormesh(pgv["x"] / 1e3, pgv["y"] / 1e3, pgv, vmin=0, vmax=top, cmap="magma_r")
    axes.set(title=name, xlabel="x (km)", aspect="equal")
panels[0].set_ylabel("y (km)")
figure.colorbar(drawn, label="peak ground velocity (cm/s)")

# %%
# The check
# ---------
# What remains with the right model is the error of the coarse cells. It must be far below the
# misfit of the wrong model; otherwise, the comparison would tell us nothing about the ground.

misfits = {name: comparison.medians["misfit"] for name, comparison in found.items()}
print(", ".join(f"{name}: median misfit {misfit:.2f}" for name, misfit in misfits.items()))
assert misfits["basin"] < 0.5 * misfits["rock"], "the comparison does not see the basin"
assert found["basin"].medians["correlation"] > 0.9

# %%
# What to change next
# -------------------
# - How accurate are the cells? ``gs.check`` shows the highest frequency that they resolve. Set
#   ``SPACING = 100.0``: the misfit of the basin vanishes, because the records are of that run.
# - Vary the depth of the bowl, or its speed. Which one do the records constrain?
# - Add attenuation: ``qp`` and ``qs`` of the model, and ``attenuation={"model": "constant"}``.
# - In a terminal, ``groundswell compare results_basin/basin records.mseed --band 0.2 1``.

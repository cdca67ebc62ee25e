"""
The same shot in uncertain ground
=================================

An ensemble of 16 runs: the speed and the thickness of the soft layer are samples of distributions.
One call runs them on all cores, and one dataset has their results (:doc:`/ensembles`).
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

folder = Path("results_gallery_ensemble")
folder.mkdir(exist_ok=True)
(folder / "shot.toml").write_text("""
solver = "earthquake"
grid = { size = ["360 m", "120 m", "160 m"], spacing = "10 m" }
time = { duration = "0.8 s" }
output = { seismograms = { interval = "4 ms" }, shaking_map = false }

[medium]
kind = "layered"
layers = [
  { top = 0, vp = 1200, vs = 600, rho = 1900 },
  { top = 80, vp = 2400, vs = 1300, rho = 2200 },
]

[[source]]
kind = "explosion"
x = 100
y = 60
depth = 15
magnitude = 0.5
time_function = { kind = "ricker", frequency = "7 Hz" }

[[receiver]]
name = "R"
x = 260
y = 60
""")
rng = np.random.default_rng(1)
rows = [
    {"medium.layers.0.vp": 2 * vs, "medium.layers.0.vs": vs, "medium.layers.1.top": top}
    for vs, top in zip(rng.normal(600, 40, 16), rng.uniform(60, 100, 16), strict=True)
]
plan = gs.ensembles.Plan.of(folder / "shot.toml", rows, folder / "ground.zarr")
gs.ensembles.run(plan, resume=True)

up = 1e3 * gs.ensembles.open(folder / "ground.zarr")["seismograms"].sel(component="Z").squeeze()
time = up["time"]
figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
low, middle, high = np.percentile(up, [10, 50, 90], axis=0)
axes.plot(time, up.T, color="0.7", linewidth=0.5)
axes.fill_between(time, low, high, color="C0", alpha=0.4, label="10 to 90 %")
axes.plot(time, middle, color="C0", label="median")
axes.set(xlabel="time (s)", ylabel="vertical velocity (mm/s)", xlim=(0.2, 0.8))
axes.legend()
plt.show()

"""
Waves in a basin
================

Four moments of a section through a basin: rock lets the waves pass, soft ground slows them and
keeps them (:doc:`/earthquake`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

depth, y, x = np.ogrid[:40, :16, :90]
floor = 13 * (1 - ((x - 55) / 24) ** 2)  # of the basin, in cells
vs = np.where(np.broadcast_to(depth < floor, (40, 16, 90)), 900.0, 2600.0)  # m/s
model = gs.earthquake.Model(vp=1.8 * vs, vs=vs, rho=2300.0, spacing=100.0)
quake = {
    "kind": "double-couple",
    "x": 1500, "y": 800, "depth": 2500, "magnitude": 4.0,
    "strike": 0, "dip": 60, "rake": 90,
    "time_function": {"kind": "gaussian", "sigma": "0.16 s"},
}
section = {
    "fields": ["vx"],
    "where": {"kind": "plane", "normal": "y", "at": 800},
    "interval": "0.1 s",
    "file": "section.nc",
}
result = gs.earthquake.simulate(model, [quake], duration="4.4 s", output={"record": [section]})

vx = 100 * result.records["section.nc"]["vx"].squeeze()  # cm/s
figure, panels = plt.subplots(2, 2, figsize=(11, 5), sharex=True, sharey=True, layout="constrained")
for time, axes in zip((0.9, 1.6, 2.6, 4.2), panels.flat, strict=True):
    now = vx.sel(time=time, method="nearest")
    shown = axes.pcolormesh(
        now["x"] / 1e3, now["z"] / 1e3, now, cmap="RdBu_r", vmin=-1.2, vmax=1.2, shading="gouraud"
    )
    axes.plot(0.1 * (x.ravel() + 0.5), 0.1 * np.clip(floor.ravel(), 0, None), color="teal")
    axes.text(0.2, 3.8, f"{time} s", fontsize="large")
    axes.set(aspect="equal", xlim=(0.1, 8.9), ylim=(3.9, 0))
figure.supxlabel("x (km)")
figure.supylabel("depth (km)")
figure.colorbar(shown, ax=panels, label="velocity along x (cm/s)", extend="both", shrink=0.7)
plt.show()

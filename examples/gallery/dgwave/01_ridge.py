"""
Waves on a ridge
================

Elements follow the surface: an earthquake below a ridge, in a vertical section
(:doc:`/dgwave`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

vs = np.full((4, 4, 8), 1500.0)  # depth, y, x; m/s
model = gs.dgwave.Model(vp=1.8 * vs, vs=vs, rho=2300.0, spacing=300.0)
fault = {
    "kind": "double-couple",
    "x": 1200, "y": 600, "depth": 900, "moment": 1e13,
    "strike": 0, "dip": 0, "rake": 90,
    "time_function": {"kind": "ricker", "frequency": "3 Hz"},
}
section = {
    "fields": ["vx"],
    "where": {"kind": "plane", "normal": "y", "at": 600, "points": [241, 131]},
    "interval": "0.05 s",
    "file": "section.nc",
}
result = gs.dgwave.simulate(
    model,
    [fault],
    [],
    duration="1.1 s",
    method={"degree": 4},
    boundary={"width": 1},
    topography={"kind": "formula", "elevation": "250 * exp(-((x - 1200) / 350)**2)"},
    output={"record": [section]},
)
vx = 1e3 * result.records["section.nc"]["vx"].squeeze()  # mm/s

figure, panels = plt.subplots(1, 3, figsize=(12, 3.9), sharey=True, layout="constrained")
for time, axes in zip((0.6, 0.8, 1.0), panels, strict=True):
    now = vx.sel(time=time, method="nearest")
    drawn = axes.pcolormesh(
        *(now["x"], -now["z"], now),
        cmap="RdBu_r", vmin=-30, vmax=30,
    )
    axes.plot(now["x"], 250 * np.exp(-(((now["x"] - 1200) / 350) ** 2)), color="black")
    axes.set(aspect="equal", xlabel="x (m)", title=f"{time} s", xlim=(0, 2400), ylim=(-1150, 320))
panels[0].set_ylabel("elevation (m)")
figure.colorbar(drawn, label="velocity along x (mm/s)", extend="both", shrink=0.8)
plt.show()

"""
Waves in a basin
================

Five moments of a section through a basin: rock lets the waves pass, soft ground slows them and
keeps them (:doc:`/earthquake`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

vs = np.full((32, 20, 64), 2600.0)  # depth, y, x; m/s
depth, _, x = np.ogrid[:32, :20, :64]
basin = depth < 8 * (1 - ((x - 38) / 18) ** 2)
vs[np.broadcast_to(basin, vs.shape)] = 900.0
model = gs.earthquake.Model(vp=1.8 * vs, vs=vs, rho=2300.0, spacing=150.0)
quake = {
    "kind": "double-couple",
    **{"x": 2000, "y": 1500, "depth": 3000, "magnitude": 4.0},
    **{"strike": 0, "dip": 60, "rake": 90},
    "time_function": {"kind": "gaussian", "sigma": "0.14 s"},
}
section = {
    "fields": ["vx"],
    "where": {"kind": "plane", "normal": "y", "at": 1500},
    "interval": "0.1 s",
    "file": "section.nc",
}
result = gs.earthquake.simulate(model, [quake], duration="4 s", output={"record": [section]})

vx = 100 * result.records["section.nc"]["vx"].squeeze()
figure, panels = plt.subplots(5, 1, figsize=(7, 10), sharex=True, layout="constrained")
for time, axes in zip((0.6, 1.1, 1.6, 2.4, 3.6), panels, strict=True):
    now = vx.sel(time=time, method="nearest")
    shown = axes.pcolormesh(now["x"] / 1e3, now["z"] / 1e3, now, cmap="RdBu_r", vmin=-3, vmax=3)
    outline = np.clip(1.2 * (1 - ((x.ravel() - 38) / 18) ** 2), 0, None)
    axes.plot(0.15 * (x.ravel() + 0.5), outline, color="teal")
    axes.text(0.1, 4.5, f"{time} s", fontsize="large")
    axes.set(aspect="equal", ylim=(4.8, 0), ylabel="depth (km)")
panels[-1].set_xlabel("x (km)")
figure.colorbar(shown, ax=panels, label="velocity along x (cm/s)", extend="both", shrink=0.5)
plt.show()

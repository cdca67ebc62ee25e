"""
A breaking fault, seen from above
=================================

The surface moves as a fault breaks from west to east; its waves pile up ahead of the rupture
(:doc:`/rupture`).
"""

import matplotlib.pyplot as plt

import groundswell as gs

fault = {
    "plane": {"y": "5 km", "x": ["3 km", "15 km"], "depth": ["0 km", "6 km"]},
    "hypocenter": ["5 km", "5 km", "3 km"],
    "law": "slip-weakening",
    "friction": {"static": 0.68, "dynamic": 0.52, "distance": 0.4},
    "stress": {"normal": "120 MPa", "shear": "73 MPa", "rake": 180},
    "patch": [
        {
            "shape": "circle", "center": ["5 km", "5 km", "3 km"], "radius": "1.6 km",
            "stress": {"shear": "84 MPa"},
        }
    ],
}
ground = {
    "fields": ["vy"],
    "where": {"kind": "plane", "normal": "z", "at": 0, "points": [109, 61]},
    "interval": "0.5 s",
    "file": "ground.nc",
}
case = gs.dgwave.DgWaveCase.from_dict(
    {
        "grid": {"size": ["18 km", "10 km", "7 km"], "spacing": "1 km"},
        "method": {"degree": 3},
        "boundary": {"width": 1},
        "time": {"duration": "3.2 s"},
        "medium": {"kind": "homogeneous", "vp": 6000, "vs": 3464, "rho": 2670},
        "fault": [fault],
        "output": {"record": [ground]},
    }
)
result = gs.run(case, folder="results_gallery_fault", overwrite=True, quiet=True)

vy = result.records["ground.nc"]["vy"].squeeze()
figure, panels = plt.subplots(3, 1, figsize=(6.5, 9.4), sharex=True, layout="constrained")
for time, axes in zip((1.0, 2.0, 3.0), panels, strict=True):
    now = vy.sel(time=time, method="nearest")
    drawn = axes.pcolormesh(
        *(now["x"] / 1e3, now["y"] / 1e3, now),
        cmap="RdBu_r", vmin=-1.5, vmax=1.5, shading="gouraud",
    )
    axes.plot([3, 15], [5, 5], color="black", linewidth=1.5)
    axes.plot(5, 5, "k*", markersize=12)
    axes.set(aspect="equal", ylabel="y (km)", title=f"{time:.0f} s", xlim=(0, 18), ylim=(0, 10))
panels[-1].set_xlabel("x (km)")
figure.colorbar(
    drawn, ax=panels, label="velocity across the fault (m/s)", extend="both", shrink=0.5
)
plt.show()

"""
Small elements where waves are slow
===================================

Elements are halved until the slowest wave spans enough of their points: twice in the soft
layer, once below it, never in the rock (:doc:`/dgwave`).
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection

import groundswell as gs

section = {
    "fields": ["vx"],
    "where": {"kind": "plane", "normal": "y", "at": 100, "points": [121, 61]},
    "interval": "0.1 s",
    "file": "section.nc",
}
case = gs.dgwave.DgWaveCase.from_dict(
    {
        "grid": {"size": [1200, 200, 600], "spacing": 200},
        "method": {"degree": 3},
        "refinement": {"frequency": "4 Hz", "points": 5, "levels": 2},
        "time": {"duration": "1.05 s"},
        "medium": {
            "kind": "layered",
            "layers": [
                {"top": 0, "vp": 900, "vs": 350, "rho": 1800},
                {"top": 200, "vp": 1600, "vs": 800, "rho": 2000},
                {"top": 400, "vp": 3000, "vs": 1700, "rho": 2300},
            ],
        },
        "boundary": {"width": 1},
        "source": [
            {
                "kind": "double-couple", "x": 300, "y": 100, "depth": 450, "moment": 1e12,
                "strike": 0, "dip": 30, "rake": 90,
                "time_function": {"kind": "ricker", "frequency": "3 Hz"},
            }
        ],
        "output": {"record": [section], "final_fields": True},
    }
)
result = gs.run(case, folder="results_gallery_refinement", overwrite=True, quiet=True)
nodes = result.fields.load()

corners = np.stack([[nodes[a].min("node"), nodes[a].max("node")] for a in ("x", "y", "z")])
crossed = (corners[1, 0] <= 100) & (corners[1, 1] > 100)  # by the plane y = 100 m
(left, right), _, (top, bottom) = corners[:, :, crossed]
edges = np.stack([[left, top], [right, top], [right, bottom], [left, bottom]]).transpose(2, 0, 1)
vx = 1e3 * result.records["section.nc"]["vx"].squeeze().sel(time=1.0, method="nearest")

figure, axes = plt.subplots(figsize=(9, 4.6), layout="constrained")
drawn = axes.pcolormesh(vx["x"], vx["z"], vx, cmap="RdBu_r", vmin=-20, vmax=20, shading="gouraud")
axes.add_collection(PolyCollection(edges, facecolor="none", edgecolor="0.5", linewidth=0.5))
axes.set(aspect="equal", xlim=(0, 1200), ylim=(600, 0), xlabel="x (m)", ylabel="depth (m)")
figure.colorbar(drawn, label="velocity along x (mm/s)", extend="both", shrink=0.8)
plt.show()

"""
Hazard at three distances from a fault
======================================

How often does the ground shake more than a level? A fault with earthquakes of five magnitudes, and
the ground-motion model of Boore and others (2014) (:doc:`/hazard`). This needs pyGMM, as in
``pip install 'groundswell[hazard]'``.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from groundswell.seismology.hazard.analysis import compute
from groundswell.seismology.hazard.case import load_hazard_case

folder = Path("results_gallery_hazard")
folder.mkdir(exist_ok=True)
lines = ["name,magnitude,rate,rake,x,y,depth,strike,dip,length,width"]
for magnitude in (6.0, 6.4, 6.8, 7.2, 7.6):
    length = 1e3 * 10 ** (-2.44 + 0.59 * magnitude)  # m, Wells & Coppersmith (1994)
    rate = 0.01 * 10 ** -(magnitude - 6.0)  # per year
    lines.append(f"M{magnitude},{magnitude},{rate},180,0,0,0,0,90,{length},12e3")
(folder / "ruptures.csv").write_text("\n".join(lines))
distances = (2, 10, 40)  # km
sites = [f"{at} km,{1000 * at},0,500" for at in distances]
(folder / "sites.csv").write_text("\n".join(["name,x,y,vs30", *sites]))
(folder / "hazard.toml").write_text("""
title = "One fault"
measures = ["pga"]
[[ruptures]]
file = "ruptures.csv"
[sites]
file = "sites.csv"
[[intensities]]
model = "BSSA14"
truncation = 3.0
""")
curves = compute(load_hazard_case(folder / "hazard.toml")).curves.sel(measure="pga")

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for at in distances:
    axes.loglog(curves["level"] / 9.80665, curves["rate"].sel(site=f"{at} km"), label=f"{at} km")
for years in (475, 2475):
    axes.axhline(1 / years, color="black", linestyle=":", linewidth=0.8)
    axes.text(0.022, 1.1 / years, f"once in {years} years")
axes.set(xlabel="peak ground acceleration (g)", ylabel="exceedances per year")
axes.set(xlim=(0.02, 3), ylim=(1e-6, 0.1))
axes.legend(title="distance")
plt.show()

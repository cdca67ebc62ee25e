// Computes the metric of elements with straight edges once, to store it.
#pragma once
#include "metric.h"

// From `geometry` as GEOMETRY 2 has it to `stored` as GEOMETRY 0 has it, for `count` nodes of all
// elements.
KERNEL tabulate_metric(const real* RESTRICT geometry, real* RESTRICT stored, index_t count) {
  FOR_ITEMS(n, count) {
    const index_t e = n / CUBE;
    const int node = n % CUBE;
    const Metric g = Line(geometry, e, node / NODES % NODES, node % NODES).at(node / PLANE);
    const real entries[] = {g.rr, g.rs, g.rt, g.ss, g.st, g.tt, g.mass};
    real* const first = stored + e * ELEMENT_PITCH + node / RUN * RUN_PITCH + node % RUN;
    for (int k = 0; k < FACTORS; ++k) first[k * RUN] = entries[k];
  }
}

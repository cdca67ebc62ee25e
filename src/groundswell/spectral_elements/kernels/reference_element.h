// The reference element [-1, 1]^3 with NODES Gauss-Legendre-Lobatto points along each axis. NODES
// is the degree plus one. Nodes are numbered along r first, then s, then t.
#pragma once
#include "portable.h"

constexpr int PLANE = NODES * NODES, CUBE = PLANE * NODES;

// Row i takes values at the nodes of a line to the derivative at node i. All threads read the same
// entry of the first table; threads may read different entries of the second.
UNIFORM_TABLE real DERIVATIVE[NODES][NODES] = DERIVATIVES;
TABLE real DERIVATIVE_AT[NODES][NODES] = DERIVATIVES;
TABLE real POINT[NODES] = POINTS;
TABLE real WEIGHT[NODES] = WEIGHTS;

// Every kernel of the earthquake solver, the hot ones tuned for a GPU.
#include "kernels.h"
#include "march.cuh"

// The smaller kernels of the earthquake solver.
#include "record.h"
#include "sources.h"
#include "surface.h"

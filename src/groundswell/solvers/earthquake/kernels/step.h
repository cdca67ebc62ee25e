// Every kernel of the earthquake solver.
#include "kernels.h"
#include "update.h"

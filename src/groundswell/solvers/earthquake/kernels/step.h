// Every kernel of the earthquake solver.
#include "record.h"
#include "sources.h"
#include "surface.h"
#include "update.h"

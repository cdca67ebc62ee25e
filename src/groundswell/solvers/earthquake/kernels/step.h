// Every kernel of the earthquake solver.
#include "record.h"
#include "sea_floor.h"
#include "sources.h"
#include "strain.h"
#include "surface.h"
#include "update.h"

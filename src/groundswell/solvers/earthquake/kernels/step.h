// Every kernel of the earthquake solver in one translation unit.
#include "record.h"
#include "sources.h"
#include "stress.h"
#include "surface.h"
#include "velocity.h"

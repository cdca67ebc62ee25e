// The kernels of an exchange over a slower link.
#include "slow_link.h"
#include "exchange/exchange.h"

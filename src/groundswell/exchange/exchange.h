// Every kernel of the exchange.
#include "peer.h"
#include "total.h"

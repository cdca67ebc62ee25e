// Every kernel of the exchange.
#include "peer.h"

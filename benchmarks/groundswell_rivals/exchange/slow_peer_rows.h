// Rows of values into mailboxes over a slower link.
#include "slow_link.h"
#include "exchange/gather_scatter/peer_rows.h"

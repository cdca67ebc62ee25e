// Rows of values into mailboxes over a slower link.
#include "slow_link.h"
#include "exchange/assembly/mailed.h"

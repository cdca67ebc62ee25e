// Every function of friction.h at points, for tests/support/friction_points.py.
#include "seismology/kernels/friction.h"

//   parameters [PARAMETERS][points]; given [6][points]: rate, tau, sigma, eta, state, time or step
//   out [4][points]: strength, slip rate, rate of the state, advanced state
KERNEL evaluate_friction(double* RESTRICT out, const double* RESTRICT parameters,
                         const double* RESTRICT given, index_t points) {
  FOR_ITEMS(n, points) {
    const FrictionPoint friction = friction_at(parameters, points, n);
    const double rate = given[n], tau = given[points + n], sigma = given[2 * points + n];
    const double eta = given[3 * points + n], state = given[4 * points + n];
    const double time = given[5 * points + n];
    out[n] = friction.strength(rate, sigma, state, time);
    out[points + n] = friction.slip_rate(tau, sigma, eta, state, time);
    out[2 * points + n] = friction.state_rate(rate, state);
    out[3 * points + n] = friction.advance_state(rate, state, time);
  }
}

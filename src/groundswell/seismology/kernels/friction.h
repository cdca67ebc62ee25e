// Friction at a point of a fault that breaks by itself.
//
//   FRICTION   1 linear slip weakening; rate and state: 2 ageing law, 3 slip law, 4 slip law with
//              fast velocity weakening
//
// seismology/friction/ states the formulas, units and sources. All values are double, whatever the
// precision of the run: slip rates of one run span 16 decades. A slip rate is a magnitude, 0 or
// more. A normal stress is positive in compression; an open fault (below 0) keeps its cohesion.
#pragma once
#include "portable.h"

constexpr double LOG_2 = 0.69314718055994531;

// A NaN remains one, so that the run stops.
INLINE double compression(double sigma) { return sigma < 0.0 ? 0.0 : sigma; }

#if FRICTION == 1

// The state is the length of the path of slip, m, since the fault has healed.
struct FrictionPoint {
  static constexpr int PARAMETERS = 7;
  double static_friction, dynamic_friction, distance, cohesion, forced_onset, forced_duration;
  double healing_speed;

  // Pa
  METHOD double strength(double, double sigma, double state, double time) const {
    const double slipped = fmin(state / distance, 1.0);
    // Where the duration is 0, this is -inf, NaN or inf before, at and after the onset.
    const double forced = fmin(fmax((time - forced_onset) / forced_duration, 0.0), 1.0);
    const double drop = (static_friction - dynamic_friction) * fmax(slipped, forced);
    return cohesion + compression(sigma) * (static_friction - drop);
  }

  // The rate V of slip, m/s, with tau = strength + eta V; 0 where the strength is not exceeded.
  METHOD double slip_rate(double tau, double sigma, double eta, double state, double time) const {
    const double excess = tau - strength(0.0, sigma, state, time);
    return excess <= 0.0 ? 0.0 : excess / eta;
  }

  METHOD double state_rate(double rate, double) const { return rate; }

  METHOD double advance_state(double rate, double state, double dt) const {
    return heals(rate) ? 0.0 : state + rate * dt;
  }

  // Whether the rate is so low that the strength recovers, and the state becomes 0.
  METHOD bool heals(double rate) const { return rate < healing_speed; }
};

#else

// ln(sinh(y)), y > 0
INLINE double log_sinh(double y) { return y + log(-0.5 * expm1(-2.0 * y)); }

// asinh(e^x) and its derivative.
struct AsinhOfExp {
  double value, slope;
};

INLINE AsinhOfExp asinh_of_exp(double x) {
  if (x > 20.0) return {x + LOG_2, 1.0};  // to e^-2x / 4 = 1e-18
  const double y = exp(x);
  return {asinh(y), y / sqrt(1.0 + y * y)};
}

// ln(e^x + e^y)
INLINE double log_add(double x, double y) { return fmax(x, y) + log1p(exp(-fabs(x - y))); }

// The solution w of w + ln w = x, to 2 %.
INLINE double wright_omega(double x) {
  const double root = x > 40.0 ? x : log1p(exp(x));
  return root * (1.0 - log1p(root) / (2.0 + root));
}

// The state is psi, dimensionless.
struct FrictionPoint {
  static constexpr int PARAMETERS = FRICTION == 4 ? 8 : 6;
  double direct, evolution, length, reference_friction, reference_speed, cohesion;
  double weakened_friction, weakening_speed;

  // Pa
  METHOD double strength(double rate, double sigma, double state, double) const {
    const double x = log(rate) + log_scale(state);
    return cohesion + compression(sigma) * direct * asinh_of_exp(x).value;
  }

  // The rate V of slip, m/s, with tau = strength + eta V; 0 where the cohesion is not exceeded.
  //
  // Newton's method for y = ln V. The left side of the equation is monotone and convex in y, so
  // that the iterates decrease to the solution after the first. If rounding errors prevent this,
  // bisection goes on until the bracket is as narrow as they.
  METHOD double slip_rate(double tau, double sigma, double eta, double state, double) const {
    constexpr int NEWTON_STEPS = 24, BISECTIONS = 72;
    constexpr double CLOSE = 1e-8;    // a step to a point whose error is at most its square
    constexpr double SMALL = 1e-100;  // of strength that does not change the sum
    const double excess = tau - cohesion, scale = compression(sigma) * direct;
    if (excess <= 0.0) return 0.0;
    if (scale <= SMALL * excess) return excess / eta;

    // Either term is at most the sum, and one of them is at least half of it.
    const double shift = log_scale(state), share = excess / scale;
    const double undamped = log_sinh(share) - shift, frictionless = log(excess / eta);
    double high = fmin(undamped, frictionless);
    double low = fmin(undamped - 0.5 * share, frictionless) - LOG_2;

    // The solution where the strength is linear in y.
    const double y_linear = undamped - wright_omega(undamped + log(eta / scale));
    double y = fmin(fmax(y_linear, low), high);
    for (int step = 0; step < NEWTON_STEPS + BISECTIONS; ++step) {
      const AsinhOfExp friction = asinh_of_exp(y + shift);
      const double rate = exp(y), damping = eta * rate;
      const double residual = scale * friction.value + damping - excess;
      const double change = -residual / (scale * friction.slope + damping), next = y + change;
      const bool is_nan = residual != residual;
      if (is_nan || fabs(change) <= CLOSE) return rate + rate * change;  // y + change is rounded
      (residual > 0.0 ? high : low) = y;
      y = step < NEWTON_STEPS && low < next && next < high ? next : 0.5 * (low + high);
    }
    return exp(y);
  }

  // d psi / dt, 1/s
  METHOD double state_rate(double rate, double state) const {
    if (FRICTION == 2) {
      const double healing = exp((reference_friction - state) / evolution);
      return evolution / length * (reference_speed * healing - rate);
    }
    return rate / length * (steady_state(rate) - state);
  }

  // The state after `dt` at a constant rate.
  METHOD double advance_state(double rate, double state, double dt) const {
    const double slipped = rate * dt / length, healed = -expm1(-slipped);
    if (FRICTION == 2) {
      const double contact = slipped > 0.0 ? healed / slipped : 1.0;
      const double gained = log(reference_speed * dt / length * contact);
      return state +
             evolution * log_add(-slipped, gained - (state - reference_friction) / evolution);
    }
    return state + healed * (steady_state(rate) - state);
  }

  // The state itself heals.
  METHOD bool heals(double) const { return false; }

  // ln(e^(psi / a) / (2 V0))
  METHOD double log_scale(double state) const {
    return state / direct - log(2.0 * reference_speed);
  }

  // The state that a constant rate leads to, for the slip laws.
  METHOD double steady_state(double rate) const {
    const double speed = fmax(rate, 1e-100);  // at rest the state does not change
    const double log_rate = log(speed / reference_speed);
    if (FRICTION == 3) return reference_friction - evolution * log_rate;
    const double relative = speed / weakening_speed;
    const double second = relative * relative, fourth = second * second;
    const double weakening = sqrt(sqrt(sqrt(1.0 + fourth * fourth)));
    const double slow = reference_friction - (evolution - direct) * log_rate;
    const double friction = weakened_friction + (slow - weakened_friction) / weakening;
    return direct * (LOG_2 - log_rate + log_sinh(fmax(friction, 1e-9) / direct));
  }
};

#endif

// Point n of a table [PARAMETERS][points].
INLINE FrictionPoint friction_at(const double* parameters, index_t points, index_t n) {
  const auto row = [=](int r) {
    return r < FrictionPoint::PARAMETERS ? parameters[r * points + n] : 0.0;
  };
#if FRICTION == 1
  return {row(0), row(1), row(2), row(3), row(4), row(5), row(6)};
#else
  return {row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)};
#endif
}

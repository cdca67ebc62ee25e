// Incompressible Boussinesq flow by artificial compressibility (Chorin 1967), as rates of change:
// central differences, and a fourth difference of pressure against odd-even decoupling. Pressure is
// divided by density, temperature is that above neutral.
#pragma once
#include "lines.h"

struct State {
  real p, u, v, w, t;
};
struct Fields {
  real *p, *u, *v, *w, *t;
};
struct ConstFields {
  const real *p, *u, *v, *w, *t;
};

// All that is known beside a point along an axis.
struct Line {
  Five p;
  Three u, v, w, t;
};

// Nothing changes across a single layer.
template <class Axis> INLINE constexpr bool varies() { return Axis::points > 1; }

template <class Axis> INLINE Line read_line(const ConstFields& f, index_t c) {
  return {five<Axis>(f.p + c), three<Axis>(f.u + c), three<Axis>(f.v + c), three<Axis>(f.w + c),
          three<Axis>(f.t + c)};
}

// What sides put beside point n. Args: here, its pressure; along, its index along HEAT_AXIS.
template <class Axis> INLINE void close(Line& line, int n, const real* here, int along) {
  rarely();
  close_pressure<Axis>(n, line.p, here);
  close_velocity<Axis, 0>(n, line.u);
  close_velocity<Axis, 1>(n, line.v);
  close_velocity<Axis, 2>(n, line.w);
  close_temperature<Axis>(n, line.t, along);
}

// Of artificial compressibility: beta squared, and along each axis twice the faster of its two
// waves, |u| + sqrt(u^2 + 4 beta^2).
struct Waves {
  real beta2, x, y, z;
};

INLINE real twice_wave(real speed, real beta2) {
  return fabs(speed) + ROOT(FMA(speed, speed, REAL(4) * beta2));
}
INLINE Waves waves(real u, real v, real w) {
  const real speed2 = FMA(u, u, FMA(v, v, w * w));
  const real beta2 = speed2 > REAL(LEAST_BETA2) ? speed2 : REAL(LEAST_BETA2);
  return {beta2, twice_wave(u, beta2), twice_wave(v, beta2), twice_wave(w, beta2)};
}

INLINE real larger(real a, real b) { return a > b ? a : b; }

// Spacings that the fastest wave crosses in a unit of time.
INLINE real crossings(const Waves& wave) {
  const real x = varies<X>() ? wave.x * (REAL(0.5) / SPACING_X) : REAL(0),
             y = varies<Y>() ? wave.y * (REAL(0.5) / SPACING_Y) : REAL(0),
             z = varies<Z>() ? wave.z * (REAL(0.5) / SPACING_Z) : REAL(0);
  return larger(x, larger(y, z));
}

// For schemes that waves make unstable without diffusion: one over 2 nu / wave speed^2.
INLINE real undamped(const Waves& wave) {
  const real x = varies<X>() ? wave.x : REAL(0), y = varies<Y>() ? wave.y : REAL(0),
             z = varies<Z>() ? wave.z : REAL(0);
  const real fastest = larger(x, larger(y, z));
  return (REAL(0.25) * UNDAMPED_LIMIT) * (fastest * fastest);
}

// One over the longest stable step at a point: waves cross a spacing, values diffuse over one.
INLINE real step_limit(const Waves& wave) {
  return larger(larger(crossings(wave), REAL(DIFFUSION_LIMIT)), undamped(wave));
}

// By how much pressure may go ahead of the other fields in steps of each point's own length. Where
// diffusion is what limits these, waves cross little of a spacing in one, and odd-even pressure
// would be damped as little: it gets on as if beta were larger, which leaves the steady flow as it
// is, until waves or that damping limit it.
INLINE real pressure_lead(const Waves& wave, real limit) {
  if (!PRESSURE_LEADS) return REAL(1);
  const real slack = limit * RECIPROCAL(crossings(wave));
  const real by_waves = REAL(0.5) * slack * slack, by_damping = REAL(DAMPING_LEAD) * slack;
  return larger(REAL(1), by_waves < by_damping ? by_waves : by_damping);
}

// Rates of change as they gather, axis by axis.
struct Gathered {
  State rate;  // of pressure: what damps it
  real divergence;
};

INLINE real minus_twice_sum(real diffusivity) {
  real sum = varies<X>() ? diffusivity / (X::h * X::h) : REAL(0);
  if (varies<Y>()) sum += diffusivity / (Y::h * Y::h);
  if (varies<Z>()) sum += diffusivity / (Z::h * Z::h);
  return REAL(-2) * sum;
}

// With the centre's share of all diffusion, and buoyancy.
INLINE Gathered begin(const State& at) {
  const real nu = minus_twice_sum(VISCOSITY), alpha = minus_twice_sum(DIFFUSIVITY);
  return {{REAL(0), FMA(REAL(BUOYANCY_X), at.t, nu * at.u), FMA(REAL(BUOYANCY_Y), at.t, nu * at.v),
           FMA(REAL(BUOYANCY_Z), at.t, nu * at.w), alpha * at.t},
          REAL(0)};
}

// Flow at minus_speed / 2h carries a difference, diffusion brings the sum.
template <class Axis>
INLINE void move(real& rate, real difference, const Three& f, real minus_speed, real diffusivity) {
  rate = FMA(minus_speed, difference, rate);
  rate = FMA(diffusivity / (Axis::h * Axis::h), f.b + f.d, rate);
}

// What happens along one axis. Args: push, the rate of the velocity along it; p, here;
// speed, along it; twice, twice the wave's.
template <class Axis>
INLINE void gather(Gathered& sum, real& push, real p, real speed, real twice, const Line& f) {
  if (!varies<Axis>()) return;
  constexpr real half = REAL(0.5) / Axis::h;
  const real minus_speed = -half * speed;
  const real u = f.u.d - f.u.b, v = f.v.d - f.v.b, w = f.w.d - f.w.b, t = f.t.d - f.t.b;
  move<Axis>(sum.rate.u, u, f.u, minus_speed, VISCOSITY);
  move<Axis>(sum.rate.v, v, f.v, minus_speed, VISCOSITY);
  move<Axis>(sum.rate.w, w, f.w, minus_speed, VISCOSITY);
  move<Axis>(sum.rate.t, t, f.t, minus_speed, DIFFUSIVITY);
  push = FMA(-half, f.p.d - f.p.b, push);
  sum.divergence = FMA(half, Axis::axis == 0 ? u : Axis::axis == 1 ? v : w, sum.divergence);
  const real fourth = FMA(REAL(6), p, FMA(REAL(-4), f.p.b + f.p.d, f.p.a + f.p.e));
  sum.rate.p = FMA((-half * DISSIPATION) * twice, fourth, sum.rate.p);
}

INLINE State finish(const Gathered& sum, real beta2) {
  State rate = sum.rate;
  rate.p = FMA(-beta2, sum.divergence, rate.p);
  return rate;
}

INLINE State load(const ConstFields& f, index_t c) {
  return {f.p[c], f.u[c], f.v[c], f.w[c], f.t[c]};
}
INLINE void store(const Fields& f, index_t c, const State& s) {
  f.p[c] = s.p, f.u[c] = s.u, f.v[c] = s.v, f.w[c] = s.w, f.t[c] = s.t;
}

// From `start`, a stage's share of a step along these rates.
INLINE State moved_on(const State& start, const State& rate, const Waves& wave, real pace) {
  const real limit = step_limit(wave);
  const real step = LOCAL_STEPS ? pace * RECIPROCAL(limit) : pace;
  return {FMA(step * pressure_lead(wave, limit), rate.p, start.p), FMA(step, rate.u, start.u), FMA(step, rate.v, start.v),
          FMA(step, rate.w, start.w), FMA(step, rate.t, start.t)};
}

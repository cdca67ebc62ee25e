// Rates of change of incompressible Boussinesq flow with artificial compressibility (Chorin 1967):
// central differences, and a fourth difference of pressure against odd-even decoupling. Both mass
// fluxes, of velocity and of the fourth difference, vanish at walls, so that the sum of all mass
// sources is zero. `p` is pressure over density, m^2/s^2; `t` is temperature less the neutral one,
// K.
#pragma once
#include "metric.h"
#include "solids.h"

struct State {
  real p, u, v, w, t;
};
struct Fields {
  real *p, *u, *v, *w, *t;
};
struct ConstFields {
  const real *p, *u, *v, *w, *t, *metric = nullptr;
  Solids solids = {};
};

// The values of a point and its neighbours along an axis.
struct Line {
  Five p;
  Three u, v, w, t;
  Node node;
};

template <class Axis> INLINE Line read_line(const ConstFields& f, index_t c) {
  return {five<Axis>(f.p + c),  three<Axis>(f.u + c), three<Axis>(f.v + c),
          three<Axis>(f.w + c), three<Axis>(f.t + c), {}};
}

// Replaces neighbours of point n beyond a side by boundary values. Args: along, the global index
// along HEAT_AXIS.
template <class Axis> INLINE void close(Line& line, int n, int along) {
  rarely();
  close_pressure<Axis>(n, line.p);
  close_velocity<Axis, 0>(n, line.u);
  close_velocity<Axis, 1>(n, line.v);
  close_velocity<Axis, 2>(n, line.w);
  close_temperature<Axis>(n, line.t, along);
}

// Waves of artificial compressibility: beta squared, and for each axis twice the speed of the
// faster wave, |u| + sqrt(u^2 + 4 beta^2), m/s. With solids, also the point among them.
struct Waves {
  real beta2, x, y, z;
  Material material;
};

INLINE real twice_wave(real speed, real beta2) {
  return fabs(speed) + FAST_SQRT(FMA(speed, speed, REAL(4) * beta2));
}
INLINE Waves waves(real u, real v, real w) {
  const real speed2 = FMA(u, u, FMA(v, v, w * w));
  const real beta2 = speed2 > REAL(LEAST_BETA2) ? speed2 : REAL(LEAST_BETA2);
  return {beta2, twice_wave(u, beta2), twice_wave(v, beta2), twice_wave(w, beta2), {}};
}

INLINE real larger(real a, real b) { return a > b ? a : b; }

// Number of spacings that the fastest wave crosses in unit time, 1/s.
INLINE real crossings(const Waves& wave, const Nodes& at) {
  const real x = varies<X>() ? wave.x * at.x.half : REAL(0),
             y = varies<Y>() ? wave.y * at.y.half : REAL(0),
             z = varies<Z>() ? wave.z * at.z.half : REAL(0);
  return larger(x, larger(y, z));
}

// Step limit of schemes that are unstable for undamped waves: one over 2 nu / speed^2, 1/s.
INLINE real undamped(const Waves& wave) {
  const real x = varies<X>() ? wave.x : REAL(0), y = varies<Y>() ? wave.y : REAL(0),
             z = varies<Z>() ? wave.z : REAL(0);
  const real fastest = larger(x, larger(y, z));
  return (REAL(0.25) * UNDAMPED_LIMIT) * (fastest * fastest);
}

// One over the longest stable steps of velocity and of heat at a point, 1/s.
struct Limits {
  real velocity, heat;
};
INLINE Limits step_limits(const Waves& wave, const Nodes& at) {
  const real waves = larger(crossings(wave, at), undamped(wave));
  const real viscous = diffusion_limit(at, REAL(VISCOSITY), REAL(VISCOUS_LIMIT));
  const real thermal = HAS_SOLIDS ? wave.material.heat_limit
                                  : diffusion_limit(at, REAL(DIFFUSIVITY), REAL(THERMAL_LIMIT));
  const bool in_solid = HAS_SOLIDS && wave.material.in_solid;
  const Limits limits = {larger(waves, viscous), in_solid ? thermal : larger(waves, thermal)};
  if (!IMPLICIT) return limits;
  const real decay = REAL(0.5) * INERTIA;  // decays like the shortest waves of diffusion
  return {limits.velocity + decay,
          limits.heat + (HAS_SOLIDS ? wave.material.capacity * decay : decay)};
}

// Steps of pressure, velocity and heat, s.
struct Steps {
  real p, velocity, heat;
};

// The longest stable steps at a point. Where diffusion limits the step of velocity, waves cross
// only a small fraction of a spacing in it, and damping of odd-even pressure is equally slow. A
// longer step of pressure acts like a larger beta, which does not change the steady flow. The
// stability of waves and of the damping limit it.
INLINE Steps local_steps(const Waves& wave, const Nodes& at) {
  const Limits limit = step_limits(wave, at);
  const real crossed = crossings(wave, at), crossed2 = crossed * crossed;
  const real both = limit.velocity * limit.heat, wavy = crossed2 * wave.beta2;
  const real all = RECIPROCAL(both * wavy);  // one division for four
  const real velocity = all * wavy * limit.heat, heat = all * wavy * limit.velocity;
  if (!PRESSURE_LEADS) return {velocity, velocity, heat};
  const real by_waves = REAL(0.5) * limit.velocity * wave.beta2,
             by_damping = damped_step(at) * crossed2;
  const real leading = all * both * (by_waves < by_damping ? by_waves : by_damping);
  return {larger(velocity, leading), velocity, heat};
}

// Sums of the contributions of the axes: the rates of change, save that of pressure, and the mass
// that leaves a point's cell per unit time and volume. With CONSERVES_HEAT, also the heat that flows
// through the faces of the cell, per cube of spacings.
struct Gathered {
  State rate;
  real outflow, heat;
};

INLINE real minus_twice_sum(real diffusivity) {
  if (STRETCHED) return REAL(0);
  real sum = varies<X>() ? diffusivity / (X::h() * X::h()) : REAL(0);
  if (varies<Y>()) sum += diffusivity / (Y::h() * Y::h());
  if (varies<Z>()) sum += diffusivity / (Z::h() * Z::h());
  return REAL(-2) * sum;
}

// Starts the sums with buoyancy and with the centre's term of the diffusion stencils. In implicit
// steps, INERTIA is the new values' coefficient in the time derivative; the forcing has its rest. On
// stretched grids the stencils consist of differences and have no term of the centre alone. With
// solids, the source of heat replaces the centre's term: `conduct` has all of it.
INLINE Gathered begin(const State& at, const Material& material) {
  const real decay = IMPLICIT ? REAL(INERTIA) : REAL(0);
  const real nu = minus_twice_sum(VISCOSITY) - decay, alpha = minus_twice_sum(DIFFUSIVITY) - decay;
  const real heat =
      HAS_SOLIDS ? FMA(-decay * material.capacity, at.t, material.source) : alpha * at.t;
  return {{REAL(0), FMA(REAL(BUOYANCY_X), at.t, nu * at.u), FMA(REAL(BUOYANCY_Y), at.t, nu * at.v),
           FMA(REAL(BUOYANCY_Z), at.t, nu * at.w), heat},
          REAL(0),
          REAL(0)};
}

// Adds advection and the neighbours' terms of diffusion. Args: minus_speed, minus the velocity along
// the axis over the distance of the neighbours.
template <class Axis>
INLINE void move(real& rate, const Three& f, const Node& at, real minus_speed, real diffusivity) {
  rate = FMA(minus_speed, f.d - f.b, rate);
  rate = STRETCHED ? FMA(diffusivity, FMA(at.high, f.d - f.c, at.low * (f.b - f.c)), rate)
                   : FMA(diffusivity / (Axis::h() * Axis::h()), f.b + f.d, rate);
}

// Adds heat that leaves through the two faces across an axis, less what the outflow of mass takes.
// The mass fluxes are those whose balance is the outflow. Args: along, the velocity of walls across
// other axes, whose half cells belong to the point's cell.
template <class Axis> INLINE void carry_heat(real& heat, const Line& f, real along) {
  const Three& speed = Axis::axis == 0 ? f.u : Axis::axis == 1 ? f.v : f.w;
  const Five& p = f.p;
  const real low = FMA(REAL(3), p.b - p.c, p.d - p.a), high = FMA(REAL(3), p.c - p.d, p.e - p.b);
  const real before = FMA(REAL(DAMPING), low, REAL(0.5) * (speed.b + speed.c + along));
  const real after = FMA(REAL(DAMPING), high, REAL(0.5) * (speed.c + speed.d + along));
  heat += f.node.half * FMA(after, f.t.d - f.t.c, before * (f.t.c - f.t.b));
}

// Adds all terms of one axis. Args: push, the rate of the velocity component along it; p, the
// point's pressure; speed, the velocity along it; along, see `carry_heat`.
template <class Axis>
INLINE void gather(Gathered& sum, real& push, real p, real speed, real along, const Line& f) {
  if (!varies<Axis>()) return;
  const real half = f.node.half;
  const real minus_speed = -half * speed;
  move<Axis>(sum.rate.u, f.u, f.node, minus_speed, VISCOSITY);
  move<Axis>(sum.rate.v, f.v, f.node, minus_speed, VISCOSITY);
  move<Axis>(sum.rate.w, f.w, f.node, minus_speed, VISCOSITY);
  move<Axis>(sum.rate.t, f.t, f.node, CONSERVES_HEAT ? REAL(0) : minus_speed,
             HAS_SOLIDS ? REAL(0) : REAL(DIFFUSIVITY));
  if (CONSERVES_HEAT) carry_heat<Axis>(sum.heat, f, along);
  push = FMA(-f.node.push, f.p.d - f.p.b, push);
  const Three& along_axis = Axis::axis == 0 ? f.u : Axis::axis == 1 ? f.v : f.w;
  sum.outflow = FMA(half, along_axis.d - along_axis.b, sum.outflow);
  const real fourth = FMA(REAL(6), p, FMA(REAL(-4), f.p.b + f.p.d, f.p.a + f.p.e));
  const real damping = STRETCHED ? REAL(2) * REAL(DAMPING) * half : REAL(DAMPING) / Axis::h();
  sum.outflow = FMA(damping, fourth, sum.outflow);
}

// Args: cubes, one over the volume of the point's cell in cubes of spacings.
INLINE State finish(const Gathered& sum, real beta2, real cubes) {
  State rate = sum.rate;
  rate.p = -beta2 * sum.outflow;
  if (CONSERVES_HEAT) rate.t = FMA(-cubes, sum.heat, rate.t);
  return rate;
}

// The sums at a point in a solid, where only heat moves, by conduction.
INLINE Gathered at_rest(const Gathered& sum) {
  return {{REAL(0), REAL(0), REAL(0), REAL(0), sum.rate.t}, REAL(0), REAL(0)};
}

INLINE State load(const ConstFields& f, index_t c) {
  return {f.p[c], f.u[c], f.v[c], f.w[c], f.t[c]};
}
INLINE void store(const Fields& f, index_t c, const State& s) {
  f.p[c] = s.p, f.u[c] = s.u, f.v[c] = s.v, f.w[c] = s.w, f.t[c] = s.t;
}

// One stage: `start` plus the stage's steps times these rates. Args: pace, the step, s, or with
// local steps its ratio to the local stable steps.
INLINE State moved_on(const State& start, const State& rate, const Waves& wave, const Nodes& at,
                      real pace) {
  const Steps by = LOCAL_STEPS ? local_steps(wave, at) : Steps{REAL(1), REAL(1), REAL(1)};
  const real velocity = pace * by.velocity;
  return {FMA(pace * by.p, rate.p, start.p), FMA(velocity, rate.u, start.u),
          FMA(velocity, rate.v, start.v), FMA(velocity, rate.w, start.w),
          FMA(pace * by.heat, rate.t, start.t)};
}

// The flux at faults: faces between elements that slide past each other, resisted by friction.
//
// At each node, the exact solution of the Riemann problem without slip is a traction. With slip at
// the rate V, the shear traction is less by Z V, where Z = Zs- Zs+ / (Zs- + Zs+); it equals the
// frictional strength. Velocities and tractions on both sides follow from it: Pelties, Gabriel &
// Ampuero, Geosci. Model Dev. 7:847, 2014; Duru, Rannabauer, Gabriel & Igel, arXiv:1802.06380. All
// is in double precision, and ranks that share a face compute the same bits.
#pragma once
#include "elements.h"
#include "seismology/kernels/friction.h"
#include "seismology/kernels/rupture.h"

// A face of a fault. Both indices below are 0 for the footwall and 1 for the hanging wall.
struct FaultFace {
  int element[2];  // -1: another rank has it
  int face[2];
  int turn;      // orientation of the hanging wall's face, see `turned`
  int trace[2];  // number of the entry for the trace of a wall that another rank has
};

enum { SLIP_STRIKE, SLIP_UPDIP, STATE, WORK, RELEASED, VARIABLES };
enum {
  RATE_STRIKE,
  RATE_UPDIP,
  SHEAR_STRIKE,
  SHEAR_UPDIP,
  NORMAL,
  PEAK_RATE,
  ONSET,
  BEFORE,
  RECORDED = BEFORE + STATE + 1
};

// Along the normal, which points from the footwall to the hanging wall, along strike and up dip.
struct OnFault {
  double normal, strike, updip;
};

// A table with a row of `points` values for each number.
struct Rows {
  const double* values;
  index_t points;

  METHOD double at(int row, index_t n) const { return values[row * points + n]; }
};

struct Axes {
  double normal[3], strike[3], updip[3];

  METHOD OnFault resolve(const double (&v)[3]) const {
    return {dot(normal, v), dot(strike, v), dot(updip, v)};
  }
  METHOD double along(int c, const OnFault& v) const {
    return v.normal * normal[c] + v.strike * strike[c] + v.updip * updip[c];
  }
  METHOD static double dot(const double (&a)[3], const double (&b)[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
};

INLINE Axes axes_at(const Rows& axes, index_t n) {
  Axes found;
  for (int c = 0; c < 3; ++c) {
    found.normal[c] = axes.at(c, n);
    found.strike[c] = axes.at(3 + c, n);
    found.updip[c] = axes.at(6 + c, n);
  }
  return found;
}

// The state of the rock on one side of a node: traction on the plane with the fault's normal, and
// velocity.
struct Wall {
  OnFault traction, velocity;
  double area;  // surface Jacobian of the face, by which its tractions are multiplied
  int node;     // of the wall's own face
};

// The traction that both walls have in common if they do not slip.
INLINE double common(double z, double traction, double velocity, double other_z,
                     double other_traction, double other_velocity) {
  return z * other_z / (z + other_z) *
         (other_velocity - velocity + other_traction / other_z + traction / z);
}
INLINE OnFault locked(const Wall& foot, const Wall& hanging, const OnFault& z, const OnFault& w) {
  const OnFault &t = foot.traction, &v = foot.velocity, &s = hanging.traction,
                &u = hanging.velocity;
  return {common(z.normal, t.normal, v.normal, w.normal, s.normal, u.normal),
          common(z.strike, t.strike, v.strike, w.strike, s.strike, u.strike),
          common(z.updip, t.updip, v.updip, w.updip, s.updip, u.updip)};
}

// Stresses before the run, and what nucleation adds to the shear stress; compression is positive.
INLINE OnFault load_at(const Rows& loads, index_t n, double time) {
  const double part = ramp(time, loads.at(5, n));
  return {loads.at(0, n), loads.at(1, n) + part * loads.at(3, n),
          loads.at(2, n) + part * loads.at(4, n)};
}

// Arguments of the kernel, for F faces with PLANE points each, in the order of the footwall's nodes:
//   fault_faces [F]; fault_traces [3][fault_sides]: entries for the traces of walls of other ranks
//   fault_axes [9][points]: normal, strike and updip
//   wall_impedances [4][points]: zp and zs of the footwall, then of the hanging wall
//   friction [parameters][points]: see friction.h
//   loads [6][points]: normal stress (compression is positive), shear along strike and up dip, those
//     that nucleation adds, Pa, and its duration, s
//   slip, slip_register [VARIABLES][points]: slip, state, work against friction and energy that
//     waves and deformation have received, J/m^2, and their Runge-Kutta register
//   recorded [RECORDED][points]: rates of slip, shear tractions, normal stress; the largest rate so
//     far, and when it first exceeded RUPTURED, infinite before; slip and state
//   fault_jumps [F][2][JUMP][PLANE]: what `advance` reads
//   begin [1]: time at the start of the run, s
struct Fault {
  const FaultFace* faces;
  const long long* traces;
  Rows axes, impedances, friction, loads;
  double *slip, *slip_register, *recorded;
  real* jumps;
  index_t count, sides;

  METHOD Wall wall_at(const Elements& all, index_t f, int wall, int p, const Axes& at) const {
    const FaultFace& face = faces[f];
#if CURVED
    const int q = wall ? turned(p, face.turn) : p;
    const double sign = wall ? -1 : 1;  // traces refer to the outward normal of their element
#else
    const int q = p;
    const double sign = face.face[0] % 2 ? 1 : -1;  // traces refer to the axis
#endif
    Wall found{{}, {}, 1, q};
    real values[TRACE];
    if (face.element[wall] >= 0) {
      load_own(all, face.element[wall], face.face[wall], q, values, found.area);
    } else {
      const real* const from =
          all.locate(traces[buffer_of(all.stage) * sides + face.trace[wall]], false);
      for (int n = 0; n < TRACE; ++n) values[n] = from[n * PLANE + q];
    }
    double traction[3], velocity[3];
    for (int c = 0; c < 3; ++c) {
      traction[c] = sign * static_cast<double>(values[c]);
      velocity[c] = static_cast<double>(values[3 + c]);
    }
    found.traction = at.resolve(traction);
    found.velocity = at.resolve(velocity);
    return found;
  }

  METHOD void load_own(const Elements& all, index_t e, int face, int p, real (&values)[TRACE],
                       double& area) const {
    const int node = node_of_face(face, p);
    const real* const u = all.u + e * PITCH_OF_ELEMENTS + node;
    OwnSide own;
    own.load(all, e, face, node, [&](int field) { return u[field * CUBE]; });
    for (int n = 0; n < TRACE; ++n) values[n] = own.values[n];
#if CURVED
    area = own.normal.area;
#endif
  }

  // Stores the jump of a wall: the common velocity and traction minus its own.
  METHOD void store_jump(index_t f, int wall, const Wall& own, const OnFault& traction,
                         const OnFault& z, const Axes& at) const {
    if (faces[f].element[wall] < 0) return;
    const double outward = wall ? -1 : 1;
    const OnFault change{traction.normal - own.traction.normal,
                         traction.strike - own.traction.strike,
                         traction.updip - own.traction.updip};
    const OnFault velocity{outward * change.normal / z.normal, outward * change.strike / z.strike,
                           outward * change.updip / z.updip};
    real* const to = jumps + (f * 2 + wall) * (JUMP * PLANE) + own.node;
    for (int c = 0; c < 3; ++c) {
      to[c * PLANE] = static_cast<real>(at.along(c, velocity));
      to[(3 + c) * PLANE] = static_cast<real>(outward * own.area * at.along(c, change));
    }
  }

  METHOD void advance(index_t n, const Stage& now, const double (&rates)[VARIABLES]) const {
    const index_t points = count * PLANE;
    for (int m = 0; m < VARIABLES; ++m) {
      double& r = slip_register[m * points + n];
      r = now.a != 0 ? now.a * r + rates[m] : rates[m];
      slip[m * points + n] += now.b * r;
    }
  }

  // Keeps what is recorded of a point, at the beginning of a step.
  METHOD void record(index_t n, double time, double dt, double rate, const OnFault& shear,
                     const OnFault& rates) const {
    const index_t points = count * PLANE;
    double* const at = recorded + n;
    const double before = sqrt(at[RATE_STRIKE * points] * at[RATE_STRIKE * points] +
                               at[RATE_UPDIP * points] * at[RATE_UPDIP * points]);
    if (rate > RUPTURED && !(at[ONSET * points] <= time))
      at[ONSET * points] = time - dt * since_rupture(before, rate);
    at[PEAK_RATE * points] = fmax(at[PEAK_RATE * points], rate);
    at[RATE_STRIKE * points] = rates.strike;
    at[RATE_UPDIP * points] = rates.updip;
    at[SHEAR_STRIKE * points] = shear.strike;
    at[SHEAR_UPDIP * points] = shear.updip;
    at[NORMAL * points] = shear.normal;
    for (int m = 0; m <= STATE; ++m) at[(BEFORE + m) * points] = slip[m * points + n];
  }
};

#define FAULT_ARGUMENTS                                                                         \
  const FaultFace *fault_faces, const long long *fault_traces, const double *fault_axes,        \
      const double *wall_impedances, const double *friction, const double *loads, double *slip, \
      double *slip_register, double *recorded, real *fault_jumps, index_t faults,               \
      index_t fault_sides, const double *begin

// Computes the jumps of both walls from the fields before the stage, and advances slip and state.
KERNEL slide(ELEMENT_ARGUMENTS, FAULT_ARGUMENTS, const Stage* stages, const double* step,
             index_t stage) {
  const Elements all ELEMENTS_AT(stage);
  const Stage now = stages[stage];
  const double time = begin[0] + static_cast<double>(clock[0]) * step[0] + now.time;
  const index_t points = faults * PLANE;
  const Fault fault{fault_faces,
                    fault_traces,
                    {fault_axes, points},
                    {wall_impedances, points},
                    {friction, points},
                    {loads, points},
                    slip,
                    slip_register,
                    recorded,
                    fault_jumps,
                    faults,
                    fault_sides};
  FOR_ITEMS(n, points) {
    const index_t f = n / PLANE;
    const int p = static_cast<int>(n % PLANE);
    const Axes at = axes_at(fault.axes, n);
    const Wall foot = fault.wall_at(all, f, 0, p, at), hanging = fault.wall_at(all, f, 1, p, at);
    const OnFault z[2] = {
        {fault.impedances.at(0, n), fault.impedances.at(1, n), fault.impedances.at(1, n)},
        {fault.impedances.at(2, n), fault.impedances.at(3, n), fault.impedances.at(3, n)}};
    const double damping = z[0].strike * z[1].strike / (z[0].strike + z[1].strike);
    OnFault traction = locked(foot, hanging, z[0], z[1]);
    const OnFault load = load_at(fault.loads, n, time);
    const double strike = load.strike + traction.strike, updip = load.updip + traction.updip;
    const double shear = sqrt(strike * strike + updip * updip);
    const double normal = load.normal - traction.normal;
    const FrictionPoint law = friction_at(friction, points, n);
    double& state = slip[STATE * points + n];
    double rate = law.slip_rate(shear, normal, damping, state, time);
    if (stage == 0 && law.heals(rate)) {
      state = 0;
      rate = law.slip_rate(shear, normal, damping, state, time);
    }
    const double part = shear > 0 ? rate / shear : 0;
    const OnFault rates{0, part * strike, part * updip};
    traction.strike -= damping * rates.strike;
    traction.updip -= damping * rates.updip;
    fault.store_jump(f, 0, foot, traction, z[0], at);
    fault.store_jump(f, 1, hanging, traction, z[1], at);
    if (stage == 0)
      fault.record(n, time, clock[0] ? step[0] : 0.0, rate,
                   {normal, load.strike + traction.strike, load.updip + traction.updip}, rates);
    const double change = -traction.strike * rates.strike - traction.updip * rates.updip;
    const double all_work = load.strike * rates.strike + load.updip * rates.updip;
    const double changes[VARIABLES] = {rates.strike, rates.updip, law.state_rate(rate, state),
                                       all_work - change, change};
    fault.advance(n, now, changes);
  }
}

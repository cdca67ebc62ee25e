// Slip on a plane of the grid: split nodes (Dalguer & Day, J. Geophys. Res. 112:B02302, 2007).
//
// The plane passes through cell centres. Both components of velocity along it, and the stresses
// between them, have two values there, those of the half-cells on either side. The fields of the
// grid hold the means, which obey the same equations as without a fault. The jumps are here. Their
// share of the differences across the fault is that of a step: fourth-order weights, so that a
// fault that does not slip changes nothing. With the transpose of these weights in the traction,
// the jumps and the means together conserve energy.
//
// Axes: `n` along the normal, `a` along the plane, z down; jumps are those from the low side to the
// high side along n. Fault points are in ROWS x COLUMNS; with index (i, k), in cells from the
// corner of the fault, those of the kind ALONG are at (i, k + 1/2), DOWN at (i + 1/2, k). Points
// beyond an end do not slip. As there is one of each row and column, neighbours may wrap around.
// All jumps are in double precision.
#pragma once
#include "seismology/kernels/friction.h"
#include "seismology/kernels/rupture.h"

enum Kind { ALONG, DOWN, KINDS };
enum { NORMAL_LOAD, SHEAR_LOAD, ADDED_LOAD, DURATION };
enum { RATE_ALONG, RATE_DOWN, SHEAR_ALONG, SHEAR_DOWN, NORMAL, PEAK_RATE };

#define POINTS (static_cast<index_t>(ROWS) * COLUMNS)
// Differences of a step of height 1 at the fault, at the distances 1/2 and 3/2 cells.
constexpr double NEAR = 25.0 / 48, FAR = -1.0 / 48;
constexpr double SURFACE = static_cast<double>(SHEAR_REACH) / 24;

// Tables and jumps, those of both kinds of points one after the other:
//   damping [KINDS][POINTS]: mass of the jump over the time step, Pa s/m; 0 where nothing slips
//   friction [KINDS][parameters][POINTS]: see friction.h
//   loads [KINDS][4][POINTS]: normal stress (compression is positive), the kind's component of shear
//     stress and of that which nucleation adds, Pa, and its duration, s
//   normal_loads [POINTS]: normal stress at cell centres
//   stiffness [4][POINTS]: of the jumps of saa, of szz, of both across, and of saz, Pa
//   rate, slip, state, speed [KINDS][POINTS]: jumps of velocity and displacement, state of friction,
//     magnitude of the slip rate
//   trial, traction [KINDS][POINTS]: stresses sna and snz on the fault
//   jumps [3][POINTS]: of saa, szz and saz
//   onset [KINDS][POINTS]: when the slip rate first exceeded RUPTURED, infinite before
//   recorded [6][POINTS]: at cell centres
//   begin [1]: time at the start of the run, s
#define FAULT_ARGUMENTS                                                                           \
  const double *damping, const double *friction, const double *loads, const double *normal_loads, \
      const double *stiffness, double *rate, double *slip, double *state, double *speed,          \
      double *onset, double *trial, double *traction, double *jumps, double *recorded,            \
      const real *sna, const real *snz, const real *snn, const long long *clock,                  \
      const double *begin

struct Place {
  int kind, i, k;
  index_t n;     // among the points of its kind
  index_t cell;  // offset in memory

  METHOD index_t number() const { return kind * POINTS + n; }
};

INLINE index_t point_at(int i, int k) { return static_cast<index_t>(k) * COLUMNS + i; }
INLINE index_t cell_of(int i, int k) {
  return FIRST + static_cast<index_t>(k) * STEP_Z + static_cast<index_t>(i) * STEP_A;
}
INLINE Place place_of(index_t m) {
  const index_t n = m % POINTS;
  const int i = static_cast<int>(n % COLUMNS), k = static_cast<int>(n / COLUMNS);
  return {static_cast<int>(m / POINTS), i, k, n, cell_of(i, k)};
}
INLINE int column_after(int i) { return i + 1 == COLUMNS ? 0 : i + 1; }
INLINE int column_before(int i) { return i == 0 ? COLUMNS - 1 : i - 1; }
INLINE int row_after(int k) { return k + 1 == ROWS ? 0 : k + 1; }
INLINE int row_before(int k) { return k == 0 ? ROWS - 1 : k - 1; }

// The two adjacent points of the other kind along both axes.
struct Neighbours {
  index_t points[4];

  // The mean of those that slip.
  METHOD double mean(const double* values, const double* damping) const {
    double sum = 0;
    int count = 0;
    for (int m = 0; m < 4; ++m)
      if (damping[points[m]] > 0) sum += values[points[m]], ++count;
    return count ? sum / count : 0;
  }
};

INLINE Neighbours neighbours_of(const Place& at) {
  const int other = 1 - at.kind;
  const int i = at.kind == ALONG ? column_before(at.i) : column_after(at.i);
  const int k = at.kind == ALONG ? row_after(at.k) : row_before(at.k);
  const index_t first = other * POINTS;
  return {
      {first + at.n, first + point_at(i, at.k), first + point_at(at.i, k), first + point_at(i, k)}};
}

// The mean of a field in the rows next to the fault, of a step's weights.
INLINE double across(const real* field, index_t cell) {
  const double near = static_cast<double>(field[cell]) + static_cast<double>(field[cell + STEP_N]);
  const double far =
      static_cast<double>(field[cell - STEP_N]) + static_cast<double>(field[cell + 2 * STEP_N]);
  return NEAR * near + FAR * far;
}

// Divergence of the jumps of stress in the plane, Pa/m.
INLINE double divergence(const double* jumps, const Place& at) {
  const double *saa = jumps, *szz = jumps + POINTS, *saz = jumps + 2 * POINTS;
  if (at.kind == ALONG)
    return (saa[at.n] - saa[point_at(column_before(at.i), at.k)]) / H_A +
           (saz[point_at(at.i, row_after(at.k))] - saz[at.n]) / H_Z;
  // Stress imaging at the free surface
  const double above = AT_SURFACE && at.k == 0 ? -szz[at.n] : szz[point_at(at.i, row_before(at.k))];
  return (saz[point_at(column_after(at.i), at.k)] - saz[at.n]) / H_A + (szz[at.n] - above) / H_Z;
}

// The stress on the fault if it were not for inertia and friction. At a free surface, the
// extrapolation of velocities above it (kernels/surface.h) also acts on the jump of vz.
INLINE double pull(const real* sna, const real* snz, const double* jumps, const Place& at) {
  double sum = across(at.kind == ALONG ? sna : snz, at.cell) + H_N / 4 * divergence(jumps, at);
  if (AT_SURFACE && at.kind == DOWN && at.k == 0) {
    const index_t below = at.cell + STEP_Z;
    sum += SURFACE * (static_cast<double>(snz[below]) + static_cast<double>(snz[below + STEP_N]));
  }
  return sum;
}

// Normal stress on the fault at a point, positive in compression.
INLINE double compression_at(const double* loads, const real* snn, const Place& at) {
  const int above = AT_SURFACE && at.k == 0 ? 0 : row_before(at.k);
  const index_t before =
      at.kind == ALONG ? cell_of(column_before(at.i), at.k) : cell_of(at.i, above);
  const double sum = static_cast<double>(snn[at.cell]) + static_cast<double>(snn[before]);
  return loads[(at.kind * 4 + NORMAL_LOAD) * POINTS + at.n] - 0.5 * sum;
}

INLINE double shear_load(const double* loads, const Place& at, double time) {
  const double* const own = loads + at.kind * 4 * POINTS + at.n;
  return own[SHEAR_LOAD * POINTS] + ramp(time, own[DURATION * POINTS]) * own[ADDED_LOAD * POINTS];
}

// Stresses are known half a step after velocities.
INLINE double time_of_stress(const long long* clock, const double* begin) {
  return begin[0] + (static_cast<double>(clock[0]) + 0.5) * DT_EXACT;
}

// Rate and state friction applies to the mean of the rates before and after a step, slip weakening
// to the latter. The traction is then this many times damping times rate less than its trial value.
constexpr int PARTS = FRICTION == 1 ? 1 : 2;

// The trial traction: that of a fault which does not slip until the end of the step.
KERNEL load_fault(FAULT_ARGUMENTS) {
  const double time = time_of_stress(clock, begin);
  FOR_ITEMS(m, KINDS * POINTS) {
    if (damping[m] > 0) {
      const Place at = place_of(m);
      trial[m] =
          pull(sna, snz, jumps, at) + PARTS * damping[m] * rate[m] + shear_load(loads, at, time);
    }
  }
}

// The rates of slip at the end of the step, and slip and state after it.
KERNEL slide(FAULT_ARGUMENTS) {
  const double time = time_of_stress(clock, begin);
  FOR_ITEMS(m, KINDS * POINTS) {
    if (damping[m] > 0) {
      const Place at = place_of(m);
      const double own = trial[m], other = neighbours_of(at).mean(trial, damping);
      const double shear = sqrt(own * own + other * other), share = shear > 0 ? own / shear : 0;
      const FrictionPoint law =
          friction_at(friction + at.kind * FrictionPoint::PARAMETERS * POINTS, POINTS, at.n);
      const double normal = compression_at(loads, snn, at), eta = PARTS * damping[m];
      const double mean = law.slip_rate(shear, normal, eta, state[m], time);
      const double now = PARTS == 1 ? mean : fmax(2 * mean - speed[m], 0.0);
      traction[m] = own - damping[m] * (share * now + (PARTS - 1) * rate[m]);
      if (now > RUPTURED && !(onset[m] <= time))
        onset[m] = time + DT_EXACT * (0.5 - since_rupture(speed[m], now));
      speed[m] = now;
      rate[m] = share * now;
      slip[m] += DT_EXACT * rate[m];
      state[m] = law.advance_state(now, state[m], DT_EXACT);
    }
  }
}

// Mean of the values at those of two points that slip.
INLINE double mean_of(const double* values, const double* damping, index_t m, index_t n) {
  const double a = damping[m] > 0, b = damping[n] > 0;
  return a + b > 0 ? (a * values[m] + b * values[n]) / (a + b) : 0;
}

// Advances the jumps of stress, and keeps what is recorded at cell centres. The normal stress is
// continuous, so that the jumps are those of a plate under plane stress.
KERNEL stretch_fault(FAULT_ARGUMENTS) {
  FOR_ITEMS(n, POINTS) {
    const Place at = place_of(n);
    const index_t right = point_at(column_after(at.i), at.k),
                  below = point_at(at.i, row_after(at.k));
    const double *along = rate, *down = rate + POINTS;
    const double da = (along[right] - along[n]) / H_A, dz = (down[below] - down[n]) / H_Z;
    const double turn = (down[n] - down[point_at(column_before(at.i), at.k)]) / H_A +
                        (along[n] - along[point_at(at.i, row_before(at.k))]) / H_Z;
    const double cross = stiffness[2 * POINTS + n];
    jumps[n] += DT_EXACT * (stiffness[n] * da + cross * dz);
    jumps[POINTS + n] += DT_EXACT * (cross * da + stiffness[POINTS + n] * dz);
    jumps[2 * POINTS + n] += DT_EXACT * stiffness[3 * POINTS + n] * turn;

    double* const to = recorded + n;
    const double a = 0.5 * (along[n] + along[right]), z = 0.5 * (down[n] + down[below]);
    to[PEAK_RATE * POINTS] = fmax(to[PEAK_RATE * POINTS], sqrt(a * a + z * z));
    to[RATE_ALONG * POINTS] = a;
    to[RATE_DOWN * POINTS] = z;
    to[SHEAR_ALONG * POINTS] = mean_of(traction, damping, n, right);
    to[SHEAR_DOWN * POINTS] = mean_of(traction, damping, POINTS + n, POINTS + below);
    to[NORMAL * POINTS] = normal_loads[n] - static_cast<double>(snn[at.cell]);
  }
}

// The box of cells whose stresses have been advanced.
#define BOX_ENDS                                                                       \
  index_t first_k, index_t first_j, index_t first_i, index_t count_k, index_t count_j, \
      index_t count_i

// Subtracts the jumps from the differences of velocity across the fault, by which the stresses in
// four rows have been advanced, and memory variables.
//
// Args:
//   rna, rnz: memory variables of sna and snz
//   moduli, shares [KINDS][4][POINTS]: shear moduli of these stresses, Pa, and the part of their
//     rates that memory variables take
KERNEL release(real* sna, real* snz, real* rna, real* rnz, const double* moduli,
               const double* shares, const double* rate, BOX_ENDS) {
  FOR_ITEMS(item, KINDS * 4 * POINTS) {
    const index_t n = item % POINTS, row = item / POINTS % 4, kind = item / (4 * POINTS);
    const double jump = rate[kind * POINTS + n];
    const index_t cell = place_of(n).cell + (row - 1) * STEP_N;
    const index_t k = cell / STEP_Z, j = cell % STEP_Z / ROW, i = cell % ROW;
    const bool inside = k >= first_k && k < first_k + count_k && j >= first_j &&
                        j < first_j + count_j && i >= first_i && i < first_i + count_i;
    if (jump != 0 && inside) {
      const double weight = row == 1 || row == 2 ? NEAR : FAR;
      real* const s = kind == ALONG ? sna : snz;
      const double excess = weight / H_N * moduli[item] * jump, relaxed = shares[item] * excess;
      s[cell] = static_cast<real>(static_cast<double>(s[cell]) - DT_EXACT * (excess - relaxed));
#if ATTENUATION
      real* const r = kind == ALONG ? rna : rnz;
      r[cell] = static_cast<real>(static_cast<double>(r[cell]) + relaxed);
#endif
    }
  }
}

// The same for the velocity normal to the fault in the row above a free surface.
KERNEL release_surface(real* vn, const double* rate) {
  FOR_ITEMS(i, COLUMNS) {
    const double jump = rate[POINTS + i];
    const index_t above = cell_of(static_cast<int>(i), 0) - STEP_Z;
    if (jump != 0) {
      const double change = SHEAR_REACH * H_Z / (2 * H_N) * jump;
      vn[above] = static_cast<real>(static_cast<double>(vn[above]) - change);
      vn[above + STEP_N] = static_cast<real>(static_cast<double>(vn[above + STEP_N]) - change);
    }
  }
}

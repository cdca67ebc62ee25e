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
// high side along n. With index (i, k), in cells from the corner of the fault, points of the kind
// ALONG are at (i, k + 1/2), DOWN at (i + 1/2, k). Points beyond an end do not slip. As there is one
// of each row and column, neighbours may wrap around. All jumps are in double precision.
//
// A rank has the points of its block, in a window of ROWS x COLUMNS. Along an axis that ends of
// blocks cut, the window also has a margin of a point on either side, with values of other ranks or
// points that do not slip: trial tractions and normal stresses are exchanged before `slide`, and what
// it computes after it; both ranks compute the jumps of stress.
#pragma once
#include "seismology/kernels/friction.h"
#include "seismology/kernels/rupture.h"

enum Kind { ALONG, DOWN, KINDS };
enum { NORMAL_LOAD, SHEAR_LOAD, ADDED_LOAD, DURATION };
enum { CENTRE = KINDS };  // of cells, in `trial`
enum {
  RATE_STRIKE,
  RATE_UPDIP,
  SHEAR_STRIKE,
  SHEAR_UPDIP,
  NORMAL,
  PEAK_RATE,
  SLIP_STRIKE,
  SLIP_UPDIP,
  STATE,
  WORK,
  RELEASED
};

#define POINTS (static_cast<index_t>(ROWS) * COLUMNS)
#define OWN (static_cast<index_t>(OWN_ROWS) * OWN_COLUMNS)
// Differences of a step of height 1 at the fault, at the distances 1/2 and 3/2 cells.
constexpr double NEAR = 25.0 / 48, FAR = -1.0 / 48;
constexpr double SURFACE = static_cast<double>(SHEAR_REACH) / 24;

// Tables and jumps in the window, those of both kinds of points one after the other:
//   damping [KINDS][POINTS]: mass of the jump over the time step, Pa s/m; 0 where nothing slips
//   friction [KINDS][parameters][POINTS]: see friction.h
//   loads [KINDS][4][POINTS]: normal stress (compression is positive), the kind's component of shear
//     stress and of that which nucleation adds, Pa, and its duration, s
//   normal_loads [POINTS]: normal stress at cell centres
//   stiffness [4][POINTS]: of the jumps of saa, of szz, of both across, and of saz, Pa
//   rate, slip, state, speed [KINDS][POINTS]: jumps of velocity and displacement, state of friction,
//     magnitude of the slip rate
//   work, released [KINDS][POINTS]: by the kind's component of traction, J/m^2: against friction, and
//     what waves and deformation have received
//   past [KINDS][POINTS]: `pull` of the step before
//   trial [KINDS + 1][POINTS]: stresses sna and snz on the fault, and snn at cell centres
//   traction [KINDS][POINTS]: stresses sna and snz
//   jumps [3][POINTS]: of saa, szz and saz
//   onset [KINDS][POINTS]: when the slip rate first exceeded RUPTURED, infinite before
//   recorded [11][PITCH]: at cell centres, along strike (SIGN times the axis) and up dip; slip is that
//     at the time of the rates
//   begin [1]: time at the start of the run, s
#define FAULT_ARGUMENTS                                                                           \
  const double *damping, const double *friction, const double *loads, const double *normal_loads, \
      const double *stiffness, double *rate, double *slip, double *state, double *speed,          \
      double *work, double *released, double *onset, double *past, double *trial,                 \
      double *traction, double *jumps, double *recorded, const real *sna, const real *snz,        \
      const real *snn, const long long *clock, const double *begin

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
// Item m of all own points of several kinds.
INLINE Place place_of(index_t m) {
  const index_t n = m % OWN;
  const int i = static_cast<int>(n % OWN_COLUMNS) + MARGIN_COLUMNS;
  const int k = static_cast<int>(n / OWN_COLUMNS) + MARGIN_ROWS;
  return {static_cast<int>(m / OWN), i, k, point_at(i, k), cell_of(i, k)};
}
// Whether a row is at a free surface.
INLINE bool is_top(int k) { return AT_SURFACE && k == TOP; }
INLINE int column_after(int i) { return i + 1 == COLUMNS ? 0 : i + 1; }
INLINE int column_before(int i) { return i == 0 ? COLUMNS - 1 : i - 1; }
INLINE int row_after(int k) { return k + 1 == ROWS ? 0 : k + 1; }
INLINE int row_before(int k) { return k == 0 ? ROWS - 1 : k - 1; }

// Mean of the values at those of some points that slip.
INLINE double mean_of(const double* values, const double* damping, const index_t* points, int n) {
  double sum = 0;
  int count = 0;
  for (int m = 0; m < n; ++m)
    if (damping[points[m]] > 0) sum += values[points[m]], ++count;
  return count ? sum / count : 0;
}

// The mean of the two adjacent points of the other kind along both axes.
INLINE double mean_beside(const double* values, const double* damping, const Place& at) {
  const int other = 1 - at.kind;
  const int i = at.kind == ALONG ? column_before(at.i) : column_after(at.i);
  const int k = at.kind == ALONG ? row_after(at.k) : row_before(at.k);
  const index_t first = other * POINTS;
  const index_t points[4] = {first + at.n, first + point_at(i, at.k), first + point_at(at.i, k),
                             first + point_at(i, k)};
  return mean_of(values, damping, points, 4);
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
  const double above = is_top(at.k) ? -szz[at.n] : szz[point_at(at.i, row_before(at.k))];
  return (saz[point_at(column_after(at.i), at.k)] - saz[at.n]) / H_A + (szz[at.n] - above) / H_Z;
}

// The stress on the fault if it were not for inertia and friction. At a free surface, the
// extrapolation of velocities above it (kernels/surface.h) also acts on the jump of vz.
INLINE double pull(const real* sna, const real* snz, const double* jumps, const Place& at) {
  double sum = across(at.kind == ALONG ? sna : snz, at.cell) + H_N / 4 * divergence(jumps, at);
  if (at.kind == DOWN && is_top(at.k)) {
    const index_t below = at.cell + STEP_Z;
    sum += SURFACE * (static_cast<double>(snz[below]) + static_cast<double>(snz[below + STEP_N]));
  }
  return sum;
}

// Normal stress on the fault at a point, positive in compression.
INLINE double compression_at(const double* loads, const double* trial, const Place& at) {
  const int above = is_top(at.k) ? at.k : row_before(at.k);
  const index_t before =
      at.kind == ALONG ? point_at(column_before(at.i), at.k) : point_at(at.i, above);
  const double* const snn = trial + CENTRE * POINTS;
  const double sum = snn[at.n] + snn[before];
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

// The trial traction: that of a fault which does not slip until the end of the step. And the normal
// stress. Viscosity of Kelvin and Voigt damps the oscillations of jumps that cells do not resolve.
KERNEL load_fault(FAULT_ARGUMENTS) {
  const double time = time_of_stress(clock, begin);
  FOR_ITEMS(item, (KINDS + 1) * OWN) {
    const Place at = place_of(item);
    const index_t m = at.number();
    if (at.kind == CENTRE) trial[m] = static_cast<double>(snn[at.cell]);
    else if (damping[m] > 0) {
      const double now = pull(sna, snz, jumps, at), damped = now + VISCOSITY * (now - past[m]);
      trial[m] = damped + PARTS * damping[m] * rate[m] + shear_load(loads, at, time);
      past[m] = now;
    }
  }
}

// The rates of slip at the end of the step, and slip and state after it.
KERNEL slide(FAULT_ARGUMENTS) {
  const double time = time_of_stress(clock, begin);
  FOR_ITEMS(item, KINDS * OWN) {
    const Place at = place_of(item);
    const index_t m = at.number();
    if (damping[m] > 0) {
      const double own = trial[m], other = mean_beside(trial, damping, at);
      const double shear = sqrt(own * own + other * other), share = shear > 0 ? own / shear : 0;
      const FrictionPoint law =
          friction_at(friction + at.kind * FrictionPoint::PARAMETERS * POINTS, POINTS, at.n);
      const double normal = compression_at(loads, trial, at), eta = PARTS * damping[m];
      const double mean = law.slip_rate(shear, normal, eta, state[m], time);
      const double now = PARTS == 1 ? mean : fmax(2 * mean - speed[m], 0.0);
      traction[m] = own - damping[m] * (share * now + (PARTS - 1) * rate[m]);
      if (now > RUPTURED && !(onset[m] <= time))
        onset[m] = time + DT_EXACT * (0.5 - since_rupture(speed[m], now));
      const double slipped = 0.5 * DT_EXACT * (rate[m] + share * now);
      work[m] += traction[m] * slipped;
      released[m] += (shear_load(loads, at, time) - traction[m]) * slipped;
      speed[m] = now;
      rate[m] = share * now;
      slip[m] += DT_EXACT * rate[m];
      state[m] = law.advance_state(now, state[m], DT_EXACT);
    }
  }
}

// Advances the jumps of stress. The normal stress is continuous, so that the jumps are those of a
// plate under plane stress.
KERNEL stretch_fault(FAULT_ARGUMENTS) {
  FOR_ITEMS(n, POINTS) {
    const int i = static_cast<int>(n % COLUMNS), k = static_cast<int>(n / COLUMNS);
    const index_t right = point_at(column_after(i), k), below = point_at(i, row_after(k));
    const double *along = rate, *down = rate + POINTS;
    const double da = (along[right] - along[n]) / H_A, dz = (down[below] - down[n]) / H_Z;
    const double turn = (down[n] - down[point_at(column_before(i), k)]) / H_A +
                        (along[n] - along[point_at(i, row_before(k))]) / H_Z;
    const double cross = stiffness[2 * POINTS + n];
    jumps[n] += DT_EXACT * (stiffness[n] * da + cross * dz);
    jumps[POINTS + n] += DT_EXACT * (cross * da + stiffness[POINTS + n] * dz);
    jumps[2 * POINTS + n] += DT_EXACT * stiffness[3 * POINTS + n] * turn;
  }
}

INLINE double mean_of_two(const double* values, const index_t* points) {
  return 0.5 * (values[points[0]] + values[points[1]]);
}

// Keeps what is recorded at cell centres, between two points of each kind.
KERNEL record_fault(FAULT_ARGUMENTS) {
  FOR_ITEMS(item, OWN) {
    const Place at = place_of(item);
    const index_t points[4] = {at.n, point_at(column_after(at.i), at.k), POINTS + at.n,
                               POINTS + point_at(at.i, row_after(at.k))};
    const index_t *const along = points, *const down = points + 2;
    double* const to = recorded + at.n;
    const double a = mean_of_two(rate, along), z = mean_of_two(rate, down);
    to[PEAK_RATE * PITCH] = fmax(to[PEAK_RATE * PITCH], sqrt(a * a + z * z));
    to[RATE_STRIKE * PITCH] = SIGN * a;
    to[RATE_UPDIP * PITCH] = -SIGN * z;
    to[SHEAR_STRIKE * PITCH] = SIGN * mean_of(traction, damping, along, 2);
    to[SHEAR_UPDIP * PITCH] = -SIGN * mean_of(traction, damping, down, 2);
    to[NORMAL * PITCH] = normal_loads[at.n] - static_cast<double>(snn[at.cell]);
    to[SLIP_STRIKE * PITCH] = SIGN * (mean_of_two(slip, along) - 0.5 * DT_EXACT * a);
    to[SLIP_UPDIP * PITCH] = -SIGN * (mean_of_two(slip, down) - 0.5 * DT_EXACT * z);
    to[STATE * PITCH] = mean_of(state, damping, points, 4);
    to[WORK * PITCH] = mean_of_two(work, along) + mean_of_two(work, down);
    to[RELEASED * PITCH] = mean_of_two(released, along) + mean_of_two(released, down);
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
  FOR_ITEMS(item, KINDS * 4 * OWN) {
    const index_t row = item / OWN % 4, kind = item / (4 * OWN);
    const Place at = place_of(item % OWN);
    const double jump = rate[kind * POINTS + at.n];
    const index_t cell = at.cell + (row - 1) * STEP_N, m = (kind * 4 + row) * POINTS + at.n;
    const index_t k = cell / STEP_Z, j = cell % STEP_Z / ROW, i = cell % ROW;
    const bool inside = k >= first_k && k < first_k + count_k && j >= first_j &&
                        j < first_j + count_j && i >= first_i && i < first_i + count_i;
    if (jump != 0 && inside) {
      const double weight = row == 1 || row == 2 ? NEAR : FAR;
      real* const s = kind == ALONG ? sna : snz;
      const double excess = weight / H_N * moduli[m] * jump, relaxed = shares[m] * excess;
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
  FOR_ITEMS(item, OWN_COLUMNS) {
    const int i = static_cast<int>(item) + MARGIN_COLUMNS;
    const double jump = rate[POINTS + point_at(i, TOP)];
    const index_t above = cell_of(i, TOP) - STEP_Z;
    if (jump != 0) {
      const double change = SHEAR_REACH * H_Z / (2 * H_N) * jump;
      vn[above] = static_cast<real>(static_cast<double>(vn[above]) - change);
      vn[above + STEP_N] = static_cast<real>(static_cast<double>(vn[above + STEP_N]) - change);
    }
  }
}

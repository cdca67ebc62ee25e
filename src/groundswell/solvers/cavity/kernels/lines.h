// Values of a point and its neighbours along one axis, with boundary conditions. Walls are not
// stored: boundary values follow from the interior points. The first point lies one spacing from a
// wall, and half a spacing from a plane of symmetry.
#pragma once
#include "portable.h"

// What lies beyond a side of the block, and the thermal condition of a wall. Values must agree with
// boundary_conditions.py.
enum Beyond { OPEN, WALL, MIRROR };
enum Heat { FIXED, ADIABATIC, LINEAR, SHARED, SHAPED };

#define STEP_X static_cast<index_t>(1)
#define STEP_Y static_cast<index_t>(ROW)
#define STEP_Z static_cast<index_t>(PLANE)

INLINE index_t point_at(int i, int j, int k) {
  return static_cast<index_t>(k) * PLANE + static_cast<index_t>(j) * ROW + i;
}

// A side of the block. For a wall: its velocity, m/s, and temperature, K. A LINEAR wall has
// temperature + HEAT_SLOPE n at the global index n along HEAT_AXIS, a SHARED wall temperature + share
// times the one with which it would be adiabatic. Of a SHAPED wall, the first ghosts of the field
// hold this first term. On stretched grids, `ratio` is the distance of the second point from the side
// over that of the first.
struct Side {
  Beyond beyond;
  Heat heat;
  real velocity[3], temperature, share, ratio;
};

#define SIDE(name)                                                                     \
  Side {                                                                               \
    static_cast<Beyond>(name##_BEYOND), static_cast<Heat>(name##_HEAT),                \
        {name##_U, name##_V, name##_W}, name##_TEMPERATURE, name##_SHARE, name##_RATIO \
  }

struct X {
  static constexpr int axis = 0;
  METHOD static int points() { return NX; }
  METHOD static index_t step() { return STEP_X; }
  METHOD static real h() { return SPACING_X; }
  METHOD static Side low() { return SIDE(LOW_X); }
  METHOD static Side high() { return SIDE(HIGH_X); }
};
struct Y {
  static constexpr int axis = 1;
  METHOD static int points() { return NY; }
  METHOD static index_t step() { return STEP_Y; }
  METHOD static real h() { return SPACING_Y; }
  METHOD static Side low() { return SIDE(LOW_Y); }
  METHOD static Side high() { return SIDE(HIGH_Y); }
};
struct Z {
  static constexpr int axis = 2;
  METHOD static int points() { return NZ; }
  METHOD static index_t step() { return STEP_Z; }
  METHOD static real h() { return SPACING_Z; }
  METHOD static Side low() { return SIDE(LOW_Z); }
  METHOD static Side high() { return SIDE(HIGH_Z); }
};

// A value and its neighbours: a, b | c | d, e.
struct Three {
  real b, c, d;
};
struct Five {
  real a, b, c, d, e;
};

template <class Axis> INLINE Three three(const real* f) {
  return {f[-Axis::step()], f[0], f[Axis::step()]};
}
template <class Axis> INLINE Five five(const real* f) {
  return {f[-2 * Axis::step()], f[-Axis::step()], f[0], f[Axis::step()], f[2 * Axis::step()]};
}

template <class Axis> INLINE bool at_low(int n, Beyond beyond, int point = 0) {
  return Axis::low().beyond == beyond && n == point;
}
template <class Axis> INLINE bool at_high(int n, Beyond beyond, int point = 0) {
  return Axis::high().beyond == beyond && n == Axis::points() - 1 - point;
}

// Whether the stencil of point n reaches across a side that is not open.
constexpr int REACH = 2;
template <class Axis> INLINE bool near_sides(int n) {
  return (Axis::low().beyond != OPEN && n < REACH) ||
         (Axis::high().beyond != OPEN && n >= Axis::points() - REACH);
}

// Prevents the compiler from turning a rarely taken branch into code that all threads execute.
INLINE void rarely() {
#ifdef __CUDACC__
  asm volatile("");
#endif
}

// Velocity component C: a wall sets its own velocity, a plane of symmetry reverses the normal
// component.
template <class Axis, int C> INLINE void close_velocity(int n, Three& f) {
  const real turned = Axis::axis == C ? -f.c : f.c;
  if (at_low<Axis>(n, WALL)) f.b = Axis::low().velocity[C];
  if (at_low<Axis>(n, MIRROR)) f.b = turned;
  if (at_high<Axis>(n, WALL)) f.d = Axis::high().velocity[C];
  if (at_high<Axis>(n, MIRROR)) f.d = turned;
}

// Twice the length of the half cell on a wall, over that of the cell of the first point without it.
INLINE real half_cell(const Side& wall) { return STRETCHED ? REAL(2) / wall.ratio : REAL(1); }

// The length of the cell of the first point without the half cell on the wall, over that with it.
INLINE real shortened(const Side& wall) {
  return STRETCHED ? wall.ratio / (wall.ratio + REAL(1)) : REAL(2) / REAL(3);
}

// Velocity component C of the wall next to a point, m/s, weighted with its half cell; 0 away from
// walls. Args: n, the point's index along the axis.
template <class Axis, int C> INLINE real wall_velocity(int n) {
  return at_low<Axis>(n, WALL)    ? half_cell(Axis::low()) * Axis::low().velocity[C]
         : at_high<Axis>(n, WALL) ? half_cell(Axis::high()) * Axis::high().velocity[C]
                                  : REAL(0);
}

// The temperature of a wall without heat flux: the gradient of the parabola through the wall and the
// first two points vanishes on it.
INLINE real adiabatic_temperature(const Side& wall, real first, real second) {
  if (!STRETCHED) return (REAL(4) * first - second) * (REAL(1) / REAL(3));
  const real square = wall.ratio * wall.ratio;
  return (square * first - second) * (REAL(1) / (square - REAL(1)));
}

// An adiabatic wall has the temperature whose gradient at the wall is zero to second order. Args:
// ghost, the value beyond the first point.
INLINE real wall_temperature(const Side& wall, real first, real second, real ghost, int along) {
  const real adiabatic = adiabatic_temperature(wall, first, second);
  if (wall.heat == ADIABATIC) return adiabatic;
  if (wall.heat == SHARED) return FMA(wall.share, adiabatic, wall.temperature);
  if (wall.heat == SHAPED) return FMA(wall.share, adiabatic, ghost);
  if (wall.heat == LINEAR) return FMA(REAL(HEAT_SLOPE), static_cast<real>(along), wall.temperature);
  return wall.temperature;
}

// Args: along, the global index along HEAT_AXIS.
template <class Axis> INLINE void close_temperature(int n, Three& f, int along) {
  const Three in = f;
  if (at_low<Axis>(n, WALL)) f.b = wall_temperature(Axis::low(), in.c, in.d, in.b, along);
  if (at_low<Axis>(n, MIRROR)) f.b = in.c;
  if (at_high<Axis>(n, WALL)) f.d = wall_temperature(Axis::high(), in.c, in.b, in.d, along);
  if (at_high<Axis>(n, MIRROR)) f.d = in.c;
}

// Pressure is extrapolated linearly, to a wall and behind it. The third difference across the face
// between the wall and the first point is then zero: no mass passes there by damping. On stretched
// grids, the extrapolation is linear in the index; `Node::push` makes up for it in the gradient.
template <class Axis> INLINE void close_pressure(int n, Five& f) {
  const Five in = f;
  if (at_low<Axis>(n, WALL)) {
    f.b = REAL(2) * in.c - in.d;
    f.a = REAL(3) * in.c - REAL(2) * in.d;
  }
  if (at_low<Axis>(n, WALL, 1)) f.a = REAL(2) * in.b - in.c;
  if (at_low<Axis>(n, MIRROR)) f.b = in.c, f.a = in.d;
  if (at_low<Axis>(n, MIRROR, 1)) f.a = in.b;
  if (at_high<Axis>(n, WALL)) {
    f.d = REAL(2) * in.c - in.b;
    f.e = REAL(3) * in.c - REAL(2) * in.b;
  }
  if (at_high<Axis>(n, WALL, 1)) f.e = REAL(2) * in.d - in.c;
  if (at_high<Axis>(n, MIRROR)) f.d = in.c, f.e = in.b;
  if (at_high<Axis>(n, MIRROR, 1)) f.e = in.d;
}

// Balances mass at the ends of an axis: the cells of the first points extend to the walls, and no
// mass passes through walls and planes of symmetry. Central differences of velocity miss a part of
// the outflow there. The value of pressure behind the side adds this part, as only the fourth
// difference reads it. Args: n, the point's index along the axis; speed, its velocity; along, that
// of walls across other axes, whose half cells belong to the point's cell.
template <class Axis> INLINE void balance_mass(int n, Five& p, real speed, real along) {
  const real by_damping = REAL(0.5) / REAL(DAMPING);
  const real mirror = by_damping * along, wall = by_damping * (speed + along);
  if (at_low<Axis>(n, WALL)) p.a += wall;
  if (at_high<Axis>(n, WALL)) p.e -= wall;
  if (at_low<Axis>(n, MIRROR)) p.a += mirror;
  if (at_high<Axis>(n, MIRROR)) p.e -= mirror;
}

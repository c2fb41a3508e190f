// The pressures of an elastic layer that balance a force and moment.
//
// The skin is a thin elastic layer (Winkler foundation; K. L. Johnson, Contact Mechanics, 1985, section 4.3):
// where another surface penetrates it by a depth d, the pressure is p = K d. For a rigid surface of known shape,
//
//     p = K max(0, p0 + p1 x + p2 y - gap(x, y)),
//
// and the indentation p0 and the tilts p1 and p2 are chosen so that the pressures balance the normal force F at
// the center of pressure (u, v). They minimize the convex energy
//
//     1/2 K sum(A max(0, d)^2) - F (p0 + p1 u + p2 v),
//
// where the sum is over points with the area A. At the minimum, the gradient vanishes, so the force and moments
// are balanced. Newton's method with a line search finds the minimum in one to five steps in most cases,
// starting without a tilt. If no pressures on the surface produce the moment, a very small penalty on the tilts
// keeps the force exact and the moment as close as the surface allows.
//
// On a curved skin, the tangential force has a moment because of the height of the surface. The coordinates
// u = x - z Fx / Fz and v = y - z Fy / Fz, projected along the net force, account for it: the moments Mx and My
// about the tangents are balanced if the means of u and v, weighted by pressure, are -My / Fz and Mx / Fz.
#pragma once

#include <cstdint>
#include <vector>

#include "tactile/geometry.h"

namespace tactile {

// Points of a layer that may be pressed. The first `single` points each represent the cell of a taxel.
struct LayerPoints {
  std::vector<double> x, y, z;      // position [m]
  std::vector<double> u, v;         // the same, projected along the net force [m]
  std::vector<double> gap, area;    // to the other surface [m], and projected [m2]
  std::vector<double> force;        // [N]
  std::vector<int32_t> source;      // taxel of a single point, quadrature point of the others
  std::vector<int32_t> owner;       // taxel in whose cell it is
  size_t count = 0, single = 0;

  void reserve(size_t number);
  // Append points that are never pressed, for loops over `Lanes`.
  void pad();
};

// Indentation at the origin [m], and tilts along u and v.
struct Plane {
  double p0 = 0.0, p1 = 0.0, p2 = 0.0;

  double at(double u, double v) const { return p0 + p1 * u + p2 * v; }
};

// Integrals of depth d squared, d, d u, d v, 1, u, v, u^2, u v and v^2 over the pressed area.
struct Integrals {
  double squares = 0.0, depth = 0.0, u = 0.0, v = 0.0;
  double area = 0.0, area_u = 0.0, area_v = 0.0, area_uu = 0.0, area_uv = 0.0, area_vv = 0.0;
};

// What a layer has to balance.
struct Balance {
  double force;      // normal force > 0 [N]
  double u, v;       // required center of pressure [m]
  double stiffness;  // pressure per depth [Pa/m]
  double spacing;    // of the taxels [m]
};

struct Pressure {
  Plane plane;
  double scale = 0.0;          // force per area times depth [N/m3]
  double miss = kInfinity;     // distance between the resulting and the required center of pressure [m]
  double highest = kInfinity;  // largest gap that the tilted layer fills, up to a few spacings from the points [m]
};

// Find the pressures at points, starting from a plane.
Pressure press(LayerPoints& points, const Balance& load, Plane plane);

}  // namespace tactile

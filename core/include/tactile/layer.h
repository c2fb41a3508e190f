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

// Points of a layer that may be pressed. The first `single` points are the only ones of their taxels. The others
// follow taxel by taxel.
struct LayerPoints {
  std::vector<double> u, v, z;    // coordinates [m]; u and v are x and y before Layer::press
  std::vector<double> gap, area;  // to the other surface [m], and projected [m2]
  std::vector<int32_t> taxel;     // of each single point, and then of each taxel with several
  std::vector<int32_t> end;       // of the points of each taxel with several
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

// The taxels that are pressed.
struct Pressed {
  std::vector<int32_t> taxel;  // as in LayerPoints
  std::vector<double> force;   // normal force [N]
  std::vector<double> u, v;    // its center in the cell of the taxel [m]
  size_t count = 0;
};

// What a layer has to balance, along the axes of a pair.
struct Balance {
  Vec3 force, moment;  // the force's z is > 0 [N, N m]
  double stiffness;    // pressure per depth [Pa/m]
  double spacing;      // of the taxels [m]
};

class Layer {
 public:
  LayerPoints points;
  Pressed pressed;

  struct Result {
    double miss = kInfinity;     // distance between the resulting and the required center of pressure [m]
    double highest = kInfinity;  // largest gap that the tilted layer fills, up to a few spacings from the points [m]
  };
  // Make room for this number of points, and for as many pressed taxels.
  void reserve(size_t number);
  // Find the pressures at `points`, whose coordinates are changed from x and y to u and v, and sum them up by
  // taxel in `pressed`. Starts with the indentation `start` [m].
  Result press(const Balance& balance, double start);
  // Balance the points again, whose gaps have changed, from the plane of the last balance on.
  Result press_again(const Balance& balance);
  // The force on each point [N].
  const std::vector<double>& loaded() const { return loaded_; }
  // Change the forces in `pressed` so that they sum to `force` with the center (u, v), and leave out those that become
  // 0. They are the areas of the points, one for each pressed taxel, times the depth below a plane, which is 0 at the
  // start. Returns the distance by which the center is missed.
  double adjust(double force, double u, double v, double spacing);

 private:
  double project(double lean_u, double lean_v);
  double sum_up(const Plane& plane, double scale);

  std::vector<double> loaded_;  // force on each point [N]
  Plane plane_;                 // of the last balance
  double total_ = 0.0;          // area of all points [m2]
};

}  // namespace tactile

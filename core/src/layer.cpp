#include "tactile/layer.h"

#include <algorithm>
#include <utility>

#include "tactile/lanes.h"

namespace tactile {

namespace {

// Penalty stiffness of the tilts, relative to that of the layer itself at a distance of one spacing.
constexpr double kTiltPenalty = 1e-9;
constexpr int kMostSteps = 60;
// A shortened step is too short if the energy at its end still descends with more than this fraction of the
// initial slope.
constexpr double kSteepest = 0.5;
// Distance by which the tilted layer is extrapolated beyond the pressed points, to check whether it also presses
// deeper points [spacings].
constexpr double kBeyond = 1.5;
// Gap of points that only fill up a group of `Lanes` [m].
constexpr double kNever = 1e300;

TACTILE_WIDE Integrals integrate(const LayerPoints& on, const Plane& plane) {
  const double *us = on.u.data(), *vs = on.v.data(), *gaps = on.gap.data(), *areas = on.area.data();
  Lanes squares{}, depth{}, su{}, sv{}, area{}, area_u{}, area_v{}, area_uu{}, area_uv{}, area_vv{};
  for (size_t k = 0; k < on.count; k += kLanes) {
    Lanes u, v, gap, w;
    load(u, us + k), load(v, vs + k), load(gap, gaps + k), load(w, areas + k);
    const Lanes d = plane.p0 + plane.p1 * u + plane.p2 * v - gap;
    w = d > 0.0 ? w : Lanes{};
    const Lanes wd = w * d, wu = w * u, wv = w * v;
    squares += wd * d, depth += wd, su += wd * u, sv += wd * v;
    area += w, area_u += wu, area_v += wv;
    area_uu += wu * u, area_uv += wu * v, area_vv += wv * v;
  }
  return {sum(squares), sum(depth),  sum(su),      sum(sv),      sum(area),
          sum(area_u),  sum(area_v), sum(area_uu), sum(area_uv), sum(area_vv)};
}

// The energy of a plane, and its first and second derivatives with respect to p0, p1 and p2.
struct Energy {
  double value;
  double g0, g1, g2;
  double h00, h01, h02, h11, h12, h22;

  Energy(const Integrals& sums, const Balance& load, double penalty, const Plane& plane) {
    const double k = load.stiffness, f = load.force, u = load.u, v = load.v;
    value = 0.5 * k * sums.squares - f * plane.at(u, v) +
            0.5 * penalty * (plane.p1 * plane.p1 + plane.p2 * plane.p2);
    g0 = k * sums.depth - f, g1 = k * sums.u - f * u + penalty * plane.p1;
    g2 = k * sums.v - f * v + penalty * plane.p2;
    h00 = k * sums.area, h01 = k * sums.area_u, h02 = k * sums.area_v;
    h11 = k * sums.area_uu + penalty, h12 = k * sums.area_uv, h22 = k * sums.area_vv + penalty;
  }
};

// Find the plane that balances the force at a center of pressure, starting from the given one, and return its
// integrals. `total` is the area of all points [m2].
Integrals balance(const LayerPoints& on, const Balance& load, double total, Plane& plane) {
  const double f = load.force, penalty = kTiltPenalty * load.stiffness * total * load.spacing * load.spacing;
  Integrals sums = integrate(on, plane);
  Energy e(sums, load, penalty, plane);
  for (int n = 0; n < kMostSteps; ++n) {
    if (std::abs(e.g0) <= 1e-11 * f && std::abs(e.g1) + std::abs(e.g2) <= 1e-11 * f * load.spacing) break;
    if (e.h00 == 0.0) {  // nothing is pressed
      plane.p0 = kInfinity;
      for (size_t k = 0; k < on.count; ++k) {
        plane.p0 = std::min(plane.p0, on.gap[k] - plane.p1 * on.u[k] - plane.p2 * on.v[k]);
      }
      plane.p0 += f / (load.stiffness * total);
      sums = integrate(on, plane);
      e = Energy(sums, load, penalty, plane);
      continue;
    }
    // Eliminate p0, then solve the remaining two equations.
    const double a = e.h11 - e.h01 * e.h01 / e.h00, b = e.h12 - e.h01 * e.h02 / e.h00;
    const double c = e.h22 - e.h02 * e.h02 / e.h00, determinant = a * c - b * b;
    const double g1 = e.g1 - e.h01 * e.g0 / e.h00, g2 = e.g2 - e.h02 * e.g0 / e.h00;
    const double d1 = -(c * g1 - b * g2) / determinant, d2 = -(a * g2 - b * g1) / determinant;
    const double d0 = -(e.g0 + e.h01 * d1 + e.h02 * d2) / e.h00;
    const double slope = e.g0 * d0 + e.g1 * d1 + e.g2 * d2, energy = e.value;
    // So close to the minimum that rounding hides the descent of the energy: do one last full step.
    const bool last = -slope <= 1e-11 * std::abs(energy);
    const Plane from = plane;
    double step = 1.0, too_short = 0.0, too_long = kInfinity;
    while (step >= 1e-9) {
      plane = {from.p0 + step * d0, from.p1 + step * d1, from.p2 + step * d2};
      sums = integrate(on, plane);
      e = Energy(sums, load, penalty, plane);
      if (last) break;
      if (e.value > energy + 1e-4 * step * slope) {
        too_long = step;
      } else if (1.1 * step < too_long && too_long < kInfinity &&
                 e.g0 * d0 + e.g1 * d1 + e.g2 * d2 < kSteepest * slope) {
        too_short = step;
      } else {
        break;
      }
      // Shrink the step to the minimum of the parabola through both ends, or search between two steps.
      const double shrink = -0.5 * step * slope / (e.value - energy - step * slope);
      step = too_short > 0.0 ? std::sqrt(too_short * too_long) : step * std::min(std::max(shrink, 1e-3), 0.5);
    }
    if (last || energy - e.value <= 1e-15 * std::abs(energy)) break;
  }
  return sums;
}

// The largest indentation of the tilted layer at a pressed point [m].
TACTILE_WIDE double highest_pressed(const LayerPoints& on, const Plane& plane) {
  Lanes highest = Lanes{} - kInfinity;
  for (size_t k = 0; k < on.count; k += kLanes) {
    Lanes u, v, gap;
    load(u, &on.u[k]), load(v, &on.v[k]), load(gap, &on.gap[k]);
    const Lanes level = plane.p0 + plane.p1 * u + plane.p2 * v;
    highest = (level > gap) & (level > highest) ? level : highest;
  }
  return largest(highest);
}

}  // namespace

void LayerPoints::reserve(size_t number) {
  if (source.size() >= number + kLanes) return;
  for (auto* values : {&x, &y, &z, &u, &v, &gap, &area, &force}) values->resize(number + kLanes);
  source.resize(number + kLanes), owner.resize(number + kLanes);
}

void LayerPoints::pad() {
  for (size_t k = count; k < count + kLanes; ++k) u[k] = v[k] = area[k] = 0.0, gap[k] = kNever;
}

Pressure press(LayerPoints& points, const Balance& against, Plane plane) {
  points.pad();
  Lanes total{};
  for (size_t k = 0; k < points.count; k += kLanes) {
    Lanes area;
    load(area, &points.area[k]);
    total += area;
  }
  const Integrals sums = balance(points, against, sum(total), plane);
  return {plane, against.force / sums.depth,
          std::abs(sums.u / sums.depth - against.u) + std::abs(sums.v / sums.depth - against.v),
          highest_pressed(points, plane) + kBeyond * against.spacing * std::sqrt(plane.p1 * plane.p1 + plane.p2 * plane.p2)};
}

}  // namespace tactile

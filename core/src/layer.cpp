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

  Energy(const Integrals& sums, const Balance& load, double penalty, double u, double v, const Plane& plane) {
    const double k = load.stiffness, f = load.force.z;
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
Integrals balance(const LayerPoints& on, const Balance& load, double total, double u, double v, Plane& plane) {
  const double f = load.force.z, penalty = kTiltPenalty * load.stiffness * total * load.spacing * load.spacing;
  Integrals sums = integrate(on, plane);
  Energy e(sums, load, penalty, u, v, plane);
  for (int n = 0; n < kMostSteps; ++n) {
    if (std::abs(e.g0) <= 1e-11 * f && std::abs(e.g1) + std::abs(e.g2) <= 1e-11 * f * load.spacing) break;
    if (e.h00 == 0.0) {  // nothing is pressed
      plane.p0 = kInfinity;
      for (size_t k = 0; k < on.count; ++k) {
        plane.p0 = std::min(plane.p0, on.gap[k] - plane.p1 * on.u[k] - plane.p2 * on.v[k]);
      }
      plane.p0 += f / (load.stiffness * total);
      sums = integrate(on, plane);
      e = Energy(sums, load, penalty, u, v, plane);
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
      e = Energy(sums, load, penalty, u, v, plane);
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

}  // namespace

void LayerPoints::reserve(size_t number) {
  if (taxel.size() >= number + kLanes) return;
  for (auto* values : {&u, &v, &z, &gap, &area}) values->resize(number + kLanes);
  taxel.resize(number + kLanes);
  end.reserve(number);
}

void LayerPoints::pad() {
  for (size_t k = count; k < count + kLanes; ++k) u[k] = v[k] = z[k] = area[k] = 0.0, gap[k] = kNever;
}

void Layer::reserve(size_t number) {
  points.reserve(number);
  const size_t size = points.taxel.size();
  for (auto* values : {&loaded_, &pressed.force, &pressed.u, &pressed.v}) values->resize(size);
  pressed.taxel.resize(size);
}

Layer::Result Layer::press(const Balance& load, double start) {
  points.pad();
  total_ = project(load.force.x / load.force.z, load.force.y / load.force.z);
  plane_ = {start, 0.0, 0.0};
  return press_again(load);
}

Layer::Result Layer::press_again(const Balance& load) {
  const double f = load.force.z, u = -load.moment.y / f, v = load.moment.x / f;
  const Integrals sums = balance(points, load, total_, u, v, plane_);
  const double highest = sum_up(plane_, f / sums.depth);
  return {std::abs(sums.u / sums.depth - u) + std::abs(sums.v / sums.depth - v),
          highest + kBeyond * load.spacing * std::sqrt(plane_.p1 * plane_.p1 + plane_.p2 * plane_.p2)};
}

double Layer::adjust(double force, double u, double v, double spacing) {
  points.pad();
  double total = 0.0;
  for (size_t k = 0; k < points.count; ++k) total += points.area[k];
  Plane plane;
  const Integrals sums = balance(points, {{0.0, 0.0, force}, {}, 1.0, spacing}, total, u, v, plane);
  double sum = 0.0;
  size_t kept = 0;
  for (size_t k = 0; k < points.count; ++k) {
    const double depth = plane.at(points.u[k], points.v[k]) - points.gap[k];
    if (!(depth > 0.0)) continue;
    pressed.force[kept] = points.area[k] * depth, pressed.taxel[kept] = pressed.taxel[k];
    pressed.u[kept] = pressed.u[k], pressed.v[kept] = pressed.v[k];
    sum += pressed.force[kept++];
  }
  pressed.count = kept;
  for (size_t k = 0; k < kept; ++k) pressed.force[k] *= force / sum;
  return std::abs(sums.u / sums.depth - u) + std::abs(sums.v / sums.depth - v);
}

// Change x and y of the points to u and v, and return the sum of the areas.
TACTILE_WIDE double Layer::project(double lean_u, double lean_v) {
  Lanes total{};
  for (size_t k = 0; k < points.count; k += kLanes) {
    Lanes u, v, z, area;
    load(u, &points.u[k]), load(v, &points.v[k]), load(z, &points.z[k]), load(area, &points.area[k]);
    u -= lean_u * z, v -= lean_v * z;
    store(&points.u[k], u), store(&points.v[k], v);
    total += area;
  }
  return sum(total);
}

// Sum the forces on points up by taxel; `scale` is the force per area times depth [N/m3]. Returns the largest
// indentation of the tilted layer at a pressed point [m].
TACTILE_WIDE double Layer::sum_up(const Plane& plane, double scale) {
  const LayerPoints& on = points;
  Lanes highest = Lanes{} - kInfinity;
  size_t n = 0, k = 0;
  for (; k < on.count; k += kLanes) {
    Lanes u, v, gap, loaded;
    load(u, &on.u[k]), load(v, &on.v[k]), load(gap, &on.gap[k]), load(loaded, &on.area[k]);
    const Lanes level = plane.p0 + plane.p1 * u + plane.p2 * v;
    const Mask down = level > gap;
    highest = down & (level > highest) ? level : highest;
    loaded = down ? scale * loaded * (level - gap) : Lanes{};
    store(&loaded_[k], loaded);
    if (k + kLanes <= on.single && (down[0] & down[1] & down[2] & down[3])) {
      store(&pressed.force[n], loaded), store(&pressed.u[n], u), store(&pressed.v[n], v);
      std::copy_n(&on.taxel[k], kLanes, &pressed.taxel[n]);
      n += kLanes;
      continue;
    }
    for (size_t i = 0; i < kLanes && k + i < on.single; ++i) {
      pressed.force[n] = loaded[i], pressed.u[n] = u[i], pressed.v[n] = v[i], pressed.taxel[n] = on.taxel[k + i];
      n -= down[i];
    }
  }
  k = on.single;
  const int32_t* taxel = &on.taxel[on.single];
  for (const int32_t end : on.end) {
    double force = 0.0, u = 0.0, v = 0.0;
    for (; k < static_cast<size_t>(end); ++k) {
      force += loaded_[k], u += loaded_[k] * on.u[k], v += loaded_[k] * on.v[k];
    }
    pressed.force[n] = force, pressed.u[n] = u / force, pressed.v[n] = v / force, pressed.taxel[n] = *taxel++;
    n += force > 0.0;
  }
  pressed.count = n;
  return largest(highest);
}

}  // namespace tactile

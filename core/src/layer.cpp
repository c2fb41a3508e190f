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
// Points are left out of further iterations if the layer passes them by this distance, relative to the mean
// indentation.
constexpr double kClearance = 0.3;
// Torsional moments below this fraction of the normal force times the spacing are ignored.
constexpr double kSmall = 1e-8;
// Tolerance of the center of pressure, relative to the spacing.
constexpr double kClose = 1e-7;
// The required center of pressure is out of reach if it is missed by more than this fraction of the spacing.
constexpr double kOutOfReach = 1e-3;
// Maximum number of iterations; curved skins need several, because a twist changes the other moments.
constexpr int kMostRounds = 20;
// Gap of points that only fill up a group of `Lanes` [m].
constexpr double kNever = 1e300;

Integrals integrate(const LayerPoints& on, const Plane& plane) {
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

}  // namespace

void LayerPoints::reserve(size_t number) {
  if (taxel.size() >= number + kLanes) return;
  for (auto* values : {&u, &v, &z, &gap, &area}) values->resize(number + kLanes);
  taxel.resize(number + kLanes);
}

void LayerPoints::pad() {
  for (size_t k = count; k < count + kLanes; ++k) u[k] = v[k] = z[k] = area[k] = 0.0, gap[k] = kNever;
}

Layer::Result Layer::press(const Balance& load, double start) {
  const double f = load.force.z, lean_u = load.force.x / f, lean_v = load.force.y / f;
  points.pad();
  project(lean_u, lean_v);
  const LayerPoints* on = &points;
  State state{{start, 0.0, 0.0}, integrate(points, {start, 0.0, 0.0})};
  Plane base = state.plane;
  double clearance = kInfinity, u = -load.moment.y / f, v = load.moment.x / f;
  Result result;

  // Where the surface is not flat, the forces of a twist have moments about the tangents, which shift the center
  // of pressure. The penalty also shifts it a little. Broyden's method therefore searches for the center of
  // pressure to pass to `balance`, until all moments are balanced.
  struct {
    State state;
    double u, v, du, dv;
  } last{state, u, v, 0.0, 0.0};
  double b00 = 1.0, b01 = 0.0, b10 = 0.0, b11 = 1.0;  // turns a miss into a step of u and v
  for (int round = 0; round < kMostRounds; ++round) {
    balance(*on, load, u, v, state);
    if (round == 0) {
      base = state.plane, clearance = kClearance * state.sums.depth / state.sums.area;
      keep_pressed(base, clearance);
      on = &kept_;
    }
    const double change = std::abs(state.plane.p0 - base.p0) + std::abs(state.plane.p1 - base.p1) * far_u_ +
                          std::abs(state.plane.p2 - base.p2) * far_v_;
    if (change > clearance) {  // points that were left out may be pressed
      on = &points, clearance = kInfinity;
      state.sums = integrate(*on, state.plane);
      balance(*on, load, u, v, state);
    }
    sum_up(*on, state.plane, f, result);
    const double mean_u = state.sums.u / state.sums.depth, mean_v = state.sums.v / state.sums.depth;
    const double torsion = load.moment.z - mean_u * load.force.y + mean_v * load.force.x;
    Twist twist{};
    if (std::abs(torsion) > kSmall * f * load.spacing) {
      twist = twist_of(result.scale, lean_u, lean_v, torsion, f);
      result.x = twist.x, result.y = twist.y;
    }
    result.twist = twist.twist;
    result.highest += kBeyond * load.spacing *
                      std::sqrt(state.plane.p1 * state.plane.p1 + state.plane.p2 * state.plane.p2);
    const double du = -(load.moment.y + twist.twist * twist.zy) / f - mean_u;
    const double dv = (load.moment.x + twist.twist * twist.zx) / f - mean_v;
    result.miss = std::abs(du) + std::abs(dv);
    const bool outside = std::abs(mean_u - u) + std::abs(mean_v - v) > kOutOfReach * load.spacing;
    if (result.miss <= kClose * load.spacing || (outside && round == 0)) break;
    if (outside) {  // the last step was too long
      state = last.state;
      u = 0.5 * (last.u + u), v = 0.5 * (last.v + v);
      continue;
    }
    double su = u - last.u, sv = v - last.v;
    const double yu = du - last.du, yv = dv - last.dv;
    const double bu = b00 * yu + b01 * yv, bv = b10 * yu + b11 * yv;
    const double scalar = su * bu + sv * bv;
    if (std::abs(scalar) > 1e-3 * (su * su + sv * sv)) {
      const double row_u = (su * b00 + sv * b10) / scalar, row_v = (su * b01 + sv * b11) / scalar;
      b00 -= (su + bu) * row_u, b01 -= (su + bu) * row_v;
      b10 -= (sv + bv) * row_u, b11 -= (sv + bv) * row_v;
    }
    su = b00 * du + b01 * dv, sv = b10 * du + b11 * dv;
    last = {state, u, v, du, dv};
    u += su, v += sv;
  }
  return result;
}

// Change x and y of the points to u and v. The bounds of u and v are 8-norms over all points.
void Layer::project(double lean_u, double lean_v) {
  Lanes total{}, sum_u{}, sum_v{};
  for (size_t k = 0; k < points.count; k += kLanes) {
    Lanes u, v, z, area;
    load(u, &points.u[k]), load(v, &points.v[k]), load(z, &points.z[k]), load(area, &points.area[k]);
    u -= lean_u * z, v -= lean_v * z;
    store(&points.u[k], u), store(&points.v[k], v);
    total += area;
    u *= u, v *= v;
    u *= u, v *= v;
    sum_u += u * u, sum_v += v * v;
  }
  total_ = sum(total);
  far_u_ = std::sqrt(std::sqrt(std::sqrt(sum(sum_u))));
  far_v_ = std::sqrt(std::sqrt(std::sqrt(sum(sum_v))));
}

// Find the plane that balances the force at a center of pressure, starting from the given one and its integrals.
void Layer::balance(const LayerPoints& on, const Balance& load, double u, double v, State& state) const {
  const double f = load.force.z, penalty = kTiltPenalty * load.stiffness * total_ * load.spacing * load.spacing;
  auto& [plane, sums] = state;
  Energy e(sums, load, penalty, u, v, plane);
  for (int n = 0; n < kMostSteps; ++n) {
    if (std::abs(e.g0) <= 1e-11 * f && std::abs(e.g1) + std::abs(e.g2) <= 1e-11 * f * load.spacing) break;
    if (e.h00 == 0.0) {  // nothing is pressed
      plane.p0 = kInfinity;
      for (size_t k = 0; k < on.count; ++k) {
        plane.p0 = std::min(plane.p0, on.gap[k] - plane.p1 * on.u[k] - plane.p2 * on.v[k]);
      }
      plane.p0 += f / (load.stiffness * total_);
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
}

// Copy the points that a plane presses, or passes by less than the clearance, to `kept_`.
void Layer::keep_pressed(const Plane& plane, double clearance) {
  kept_.reserve(points.count);
  size_t n = 0;
  for (size_t k = 0; k < points.count; ++k) {
    kept_.u[n] = points.u[k], kept_.v[n] = points.v[k], kept_.z[n] = points.z[k];
    kept_.gap[n] = points.gap[k], kept_.area[n] = points.area[k], kept_.taxel[n] = points.taxel[k];
    n += plane.at(points.u[k], points.v[k]) + clearance > points.gap[k];
  }
  kept_.count = n;
  kept_.pad();
}

// Sum area times depth and its moments up by taxel. Writes `scale`, and the largest indentation of the tilted
// layer at a pressed point to `highest`.
void Layer::sum_up(const LayerPoints& on, const Plane& plane, double force, Result& result) {
  double total = 0.0, highest = -kInfinity;
  int32_t taxel = -1;
  pressed.clear();
  for (size_t k = 0; k < on.count; ++k) {
    const double u = on.u[k], v = on.v[k], level = plane.at(u, v), depth = level - on.gap[k];
    if (!(depth > 0.0)) continue;
    const double part = on.area[k] * depth;
    total += part;
    highest = std::max(highest, level);
    if (on.taxel[k] != taxel) {
      taxel = on.taxel[k];
      pressed.push_back({taxel, 0.0, 0.0, 0.0, 0.0});
    }
    Pressed& own = pressed.back();
    own.depth += part, own.u += part * u, own.v += part * v, own.z += part * on.z[k];
  }
  result.scale = force / total;
  result.highest = highest;
}

// The twist that balances a torsional moment, and the sums of normal force times height times coordinate
// relative to the center of pressure [N m2].
Layer::Twist Layer::twist_of(double scale, double lean_u, double lean_v, double torsion, double force) const {
  double x = 0.0, y = 0.0;
  for (const Pressed& own : pressed) x += own.u + lean_u * own.z, y += own.v + lean_v * own.z;
  x *= scale / force, y *= scale / force;
  double inertia = 0.0, zx = 0.0, zy = 0.0;
  for (const Pressed& own : pressed) {
    const double f = scale * own.depth, fz = scale * own.z;
    const double dx = (own.u + lean_u * own.z) / own.depth - x, dy = (own.v + lean_v * own.z) / own.depth - y;
    inertia += f * (dx * dx + dy * dy);
    zx += fz * dx, zy += fz * dy;
  }
  return {inertia > 1e-14 * force ? torsion / inertia : 0.0, x, y, zx, zy};
}

}  // namespace tactile

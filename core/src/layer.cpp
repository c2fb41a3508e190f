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
    if (round == 0) base = state.plane, clearance = kClearance * state.sums.depth / state.sums.area;
    const double change = std::abs(state.plane.p0 - base.p0) + std::abs(state.plane.p1 - base.p1) * far_u_ +
                          std::abs(state.plane.p2 - base.p2) * far_v_;
    if (change > clearance) {  // points that were left out may be pressed
      on = &points, clearance = kInfinity;
      state.sums = integrate(*on, state.plane);
      balance(*on, load, u, v, state);
    }
    result.scale = f / state.sums.depth;
    result.highest = sum_up(*on, state.plane) +
                     kBeyond * load.spacing * std::hypot(state.plane.p1, state.plane.p2);
    const double mean_u = state.sums.u / state.sums.depth, mean_v = state.sums.v / state.sums.depth;
    const double torsion = load.moment.z - mean_u * load.force.y + mean_v * load.force.x;
    Twist twist{};
    if (std::abs(torsion) > kSmall * f * load.spacing) {
      twist = twist_of(result.scale, lean_u, lean_v, torsion, f);
      result.x = twist.x, result.y = twist.y;
    }
    result.twist = twist.twist;
    const double du = -(load.moment.y + twist.twist * twist.zy) / f - mean_u;
    const double dv = (load.moment.x + twist.twist * twist.zx) / f - mean_v;
    result.miss = std::abs(du) + std::abs(dv);
    const bool outside = std::abs(mean_u - u) + std::abs(mean_v - v) > kOutOfReach * load.spacing;
    if (result.miss <= kClose * load.spacing || (outside && round == 0)) break;
    if (round == 0) {
      keep_pressed(base, clearance);
      on = &kept_;
    }
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

// Change x and y of the points to u and v.
TACTILE_WIDE void Layer::project(double lean_u, double lean_v) {
  Lanes total{}, far_u{}, far_v{};
  for (size_t k = 0; k < points.count; k += kLanes) {
    Lanes u, v, z, area;
    load(u, &points.u[k]), load(v, &points.v[k]), load(z, &points.z[k]), load(area, &points.area[k]);
    u -= lean_u * z, v -= lean_v * z;
    store(&points.u[k], u), store(&points.v[k], v);
    total += area;
    u = u < 0.0 ? -u : u, v = v < 0.0 ? -v : v;
    far_u = u > far_u ? u : far_u, far_v = v > far_v ? v : far_v;
  }
  total_ = sum(total), far_u_ = largest(far_u), far_v_ = largest(far_v);
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

// Copy the points that a plane presses, or passes by less than the clearance, to `kept_`, with those beside them.
TACTILE_WIDE void Layer::keep_pressed(const Plane& plane, double clearance) {
  kept_.reserve(points.count);
  kept_.end.clear();
  size_t n = 0;
  // Copy up to four points, and return whether any of the first `count` is pressed.
  const auto copy = [&](size_t from, size_t to, size_t count) {
    Lanes u, v, z, gap, area;
    load(u, &points.u[from]), load(v, &points.v[from]), load(z, &points.z[from]);
    load(gap, &points.gap[from]), load(area, &points.area[from]);
    store(&kept_.u[to], u), store(&kept_.v[to], v), store(&kept_.z[to], z);
    store(&kept_.gap[to], gap), store(&kept_.area[to], area);
    const Mask down = plane.p0 + plane.p1 * u + plane.p2 * v + clearance > gap;
    return (down[0] | (down[1] & -int64_t{count > 1}) | (down[2] & -int64_t{count > 2}) | (down[3] & -int64_t{count > 3})) != 0;
  };
  for (size_t k = 0; k < points.single; k += kLanes) {
    const size_t count = std::min(size_t{kLanes}, points.single - k);
    std::copy_n(&points.taxel[k], kLanes, &kept_.taxel[n]);
    if (copy(k, n, count)) n += count;
  }
  kept_.single = n;
  size_t k = points.single, taxels = n;
  const int32_t* taxel = &points.taxel[points.single];
  for (const size_t end : points.end) {
    bool kept = false;
    for (size_t from = k, to = n; from < end; from += kLanes, to += kLanes) kept |= copy(from, to, end - from);
    kept_.taxel[taxels] = *taxel++;
    if (kept) n += end - k, ++taxels, kept_.end.push_back(static_cast<int32_t>(n));
    k = end;
  }
  kept_.count = n;
  kept_.pad();
}

// Sum area times depth and its moments up by taxel. Returns the largest indentation of the tilted layer at a
// pressed point [m].
TACTILE_WIDE double Layer::sum_up(const LayerPoints& on, const Plane& plane) {
  if (loaded_.size() < on.taxel.size()) {
    loaded_.resize(on.taxel.size());
    for (auto* values : {&pressed.depth, &pressed.u, &pressed.v, &pressed.z}) values->resize(on.taxel.size());
    pressed.taxel.resize(on.taxel.size());
  }
  Lanes highest = Lanes{} - kInfinity;
  size_t n = 0, k = 0;
  for (; k < on.count; k += kLanes) {
    Lanes u, v, gap, loaded;
    load(u, &on.u[k]), load(v, &on.v[k]), load(gap, &on.gap[k]), load(loaded, &on.area[k]);
    const Lanes level = plane.p0 + plane.p1 * u + plane.p2 * v;
    const Mask down = level > gap;
    highest = down & (level > highest) ? level : highest;
    loaded = down ? loaded * (level - gap) : Lanes{};
    store(&loaded_[k], loaded);
    if (k >= on.single) continue;
    Lanes z;
    load(z, &on.z[k]);
    const Lanes moment_u = loaded * u, moment_v = loaded * v, moment_z = loaded * z;
    if (k + kLanes <= on.single && (down[0] & down[1] & down[2] & down[3])) {
      store(&pressed.depth[n], loaded), store(&pressed.u[n], moment_u), store(&pressed.v[n], moment_v);
      store(&pressed.z[n], moment_z);
      std::copy_n(&on.taxel[k], kLanes, &pressed.taxel[n]);
      n += kLanes;
      continue;
    }
    for (size_t i = 0; i < kLanes && k + i < on.single; ++i) {
      pressed.depth[n] = loaded[i], pressed.u[n] = moment_u[i], pressed.v[n] = moment_v[i];
      pressed.z[n] = moment_z[i], pressed.taxel[n] = on.taxel[k + i];
      n -= down[i];
    }
  }
  k = on.single;
  const int32_t* taxel = &on.taxel[on.single];
  for (const int32_t end : on.end) {
    double depth = 0.0, u = 0.0, v = 0.0, z = 0.0;
    for (; k < static_cast<size_t>(end); ++k) {
      depth += loaded_[k], u += loaded_[k] * on.u[k], v += loaded_[k] * on.v[k], z += loaded_[k] * on.z[k];
    }
    pressed.depth[n] = depth, pressed.u[n] = u, pressed.v[n] = v, pressed.z[n] = z, pressed.taxel[n] = *taxel++;
    n += depth > 0.0;
  }
  pressed.count = n;
  return largest(highest);
}

// The twist that balances a torsional moment, and the sums of normal force times height times coordinate
// relative to the center of pressure [N m2].
Layer::Twist Layer::twist_of(double scale, double lean_u, double lean_v, double torsion, double force) const {
  const Pressed& p = pressed;
  double x = 0.0, y = 0.0;
  for (size_t e = 0; e < p.count; ++e) x += p.u[e] + lean_u * p.z[e], y += p.v[e] + lean_v * p.z[e];
  x *= scale / force, y *= scale / force;
  double inertia = 0.0, zx = 0.0, zy = 0.0;
  for (size_t e = 0; e < p.count; ++e) {
    const double f = scale * p.depth[e], fz = scale * p.z[e];
    const double dx = (p.u[e] + lean_u * p.z[e]) / p.depth[e] - x;
    const double dy = (p.v[e] + lean_v * p.z[e]) / p.depth[e] - y;
    inertia += f * (dx * dx + dy * dy);
    zx += fz * dx, zy += fz * dy;
  }
  return {inertia > 1e-14 * force ? torsion / inertia : 0.0, x, y, zx, zy};
}

}  // namespace tactile

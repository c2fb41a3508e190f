#include "tactile/readings.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tactile {

namespace {

constexpr double kLargest = 1e100;  // of positions and spacings [m]

void require(bool fits, const char* message) {
  if (!fits) throw std::invalid_argument(message);
}

template <class T>
bool within(const std::vector<T>& numbers, int64_t low, int64_t high) {
  return std::all_of(numbers.begin(), numbers.end(), [&](int64_t number) { return low <= number && number < high; });
}

}  // namespace

void Skin::check() const {
  const size_t n = taxels.size();
  const auto patches = static_cast<int64_t>(taxels.patches.size()), count = static_cast<int64_t>(n);
  require(n <= INT32_MAX && axes.size() == n && within(taxels.neighbors, 0, count),
          "arrays must have one row for each taxel");
  int32_t begin = 0;
  for (const Taxel& taxel : taxels.list) {
    for (int axis = 0; axis < 3; ++axis) {
      require(std::abs(taxel.position[axis]) < kLargest, "positions must be finite");
    }
    require(begin <= taxel.begin && taxel.begin <= taxel.end && static_cast<size_t>(taxel.end) <= taxels.neighbors.size(),
            "neighbors must be ranges, taxel by taxel");
    begin = taxel.end;
  }
  const auto layers = static_cast<int64_t>(taxels.layers.size() / kLayerTable);
  for (const Patch& patch : taxels.patches) {
    require(0 <= patch.start && patch.start < patch.stop && patch.stop <= count && 1.0 / kLargest < patch.spacing &&
                patch.spacing < kLargest,
            "patches must have taxels and a spacing");
    require(0 <= patch.table && (taxels.layers.empty() || patch.table < layers) && patch.depth >= 0.0,
            "the layers of patches must exist");
  }
  for (const SkinGeom& geom : geoms) {
    require(-1 <= geom.patch && geom.patch < patches && 0 <= geom.body &&
                geom.body < static_cast<int64_t>(slots.size()),
            "patches and bodies of geoms must exist");
  }
  require(patch_bodies.size() == taxels.patches.size() && within(patch_bodies, 0, static_cast<int64_t>(bodies)) &&
              within(slots, -1, static_cast<int64_t>(bodies)) && bodies <= slots.size(),
          "bodies of patches must exist");
  require(elastic.taxels() == n && elastic.patches() == taxels.patches.size() && elastic.solids() <= geoms.size(),
          "layer, patches and solids must be those of the taxels and geoms");
}

bool Skin::fits(const Function& function, int channels) const {
  return Quantity::kNormal <= function.quantity && function.quantity <= Quantity::kSlip &&
         Law::kDistances <= function.law && function.law <= Law::kThick &&
         (function.law != Law::kThick || !taxels.layers.empty()) &&
         (function.factors.empty() || function.factors.size() == taxels.size()) &&
         (!function.in_taxel_axes || channels == 3);
}

template <class T>
void Skin::read(Range<const Contact> contacts, const ContactIds* ids, const BodyPoses& poses,
                const Function& function, SkinScratch& scratch, T* out) const {
  scratch.loads.clear(), scratch.touched.clear();
  resolve_loads(contacts, ids, geoms, patch_bodies, poses, scratch.loads);
  if (scratch.loads.empty()) return;
  add_loads(function, scratch);
  scratch.touched = scratch.sums.touched();
  write(function, scratch.sums, out);
}

template void Skin::read(Range<const Contact>, const ContactIds*, const BodyPoses&, const Function&, SkinScratch&,
                         float*) const;
template void Skin::read(Range<const Contact>, const ContactIds*, const BodyPoses&, const Function&, SkinScratch&,
                         double*) const;

void Skin::add_loads(const Function& function, SkinScratch& scratch) const {
  std::vector<Load>& loads = scratch.loads;
  Sums& sums = scratch.sums;
  sums.fit(taxels.size(), channels_of(function.quantity));
  const bool limited = std::any_of(loads.begin(), loads.end(),
                                   [&](const Load& load) { return taxels.patches[load.patch].limited; });
  if (limited) {
    scratch.inside.resize(loads.size());
    mark_inside({loads.data(), loads.size()}, is_elastic(function.law), scratch.inside.data());
    size_t kept = 0;
    for (size_t m = 0; m < loads.size(); ++m) {
      if (scratch.inside[m]) loads[kept++] = loads[m];
    }
    loads.resize(kept);
  }
  // Loads that cannot be spread over an area are distributed with spread_linear.
  const bool elastic_law = is_elastic(function.law);
  scratch.group.assign(loads.size(), -1);
  if (elastic_law) {
    elastic.add_readings(taxels, scratch.elastic, function.law, {loads.data(), loads.size()}, scratch.group.data(),
                         function.quantity, sums);
  }
  const Law law = elastic_law ? Law::kLinear : function.law;
  for (size_t m = 0; m < loads.size(); ++m) {
    if (scratch.group[m] >= 0) continue;
    const Load& load = loads[m];
    scratch.taxel.clear(), scratch.weight.clear();
    scratch.search.spread(taxels, load, law, 0.0, scratch.taxel, scratch.weight);
    const Range<const int64_t> taxel{scratch.taxel.data(), scratch.taxel.size()};
    double values[3];
    if (function.quantity == Quantity::kSlip) {
      Load moved = load;
      share(load, taxel, scratch.weight.data(), function.mean, [&](size_t e) {
        moved.velocity = velocity_at(load, taxels[taxel[e]].position);
        evaluate(moved, Quantity::kSlip, values);
        return values;
      }, sums);
    } else {
      evaluate(load, function.quantity, values);
      share(load, taxel, scratch.weight.data(), function.mean, [&](size_t) { return values; }, sums);
    }
  }
}

template <class T>
void Skin::write(const Function& function, Sums& sums, T* out) const {
  const int channels = sums.channels();
  for (const int64_t t : sums.touched()) {
    const double* row = sums[t];
    T* own = out + t * channels;
    const double scale = function.factors.empty() ? 1.0 : function.factors[t];
    const auto value = [&](int c) { return function.mean ? row[1 + c] / row[0] : row[1 + c]; };
    if (function.in_taxel_axes) {
      const Vec3 along = axes[t] * Vec3{value(0), value(1), value(2)};
      const double values[3] = {along.x, along.y, -along.z};
      for (int c = 0; c < 3; ++c) own[c] = static_cast<T>(scale * values[c]);
    } else {
      for (int c = 0; c < channels; ++c) own[c] = static_cast<T>(scale * value(c));
    }
  }
  sums.clear();
}

template void Skin::write(const Function&, Sums&, float*) const;
template void Skin::write(const Function&, Sums&, double*) const;

void Skin::read_environments(const ManyContacts& many, size_t first, size_t last, const Function& function,
                             SkinScratch& scratch, const ManyReadings& out) const {
  const size_t n = taxels.size(), channels = channels_of(function.quantity);
  for (size_t env = first; env < last; ++env) {
    const Range<const Contact> contacts{many.contacts + env * many.capacity, static_cast<size_t>(many.counts[env])};
    const ContactIds* ids = many.ids + env * many.capacity;
    const BodyPoses poses{many.positions + env * many.bodies, many.rotations + env * many.bodies};
    double *readings = out.taxels + env * n * channels, *wrenches = out.wrenches + env * bodies * 6;
    int32_t* touched = out.touched + env * n;
    for (int32_t k = 0; k < out.touched_counts[env]; ++k) {
      std::fill_n(readings + touched[k] * channels, channels, 0.0);
    }
    scratch.loads.clear();
    resolve_loads(contacts, ids, geoms, patch_bodies, poses, scratch.loads);
    add_loads(function, scratch);
    const std::vector<int64_t>& written = scratch.sums.touched();
    out.touched_counts[env] = static_cast<int32_t>(written.size());
    std::copy(written.begin(), written.end(), touched);
    write(function, scratch.sums, readings);
    std::fill_n(wrenches, bodies * 6, 0.0);
    net_wrenches(contacts, ids, poses, wrenches);
  }
}

void Skin::mark_inside(Range<const Load> loads, bool paired, char* inside) const {
  std::vector<int64_t> group(loads.size(), -1);
  const int64_t pairs = paired ? Elastic::group_loads(loads, group.data()) : 0;
  for (size_t m = 0; m < loads.size(); ++m) {
    if (group[m] < 0) inside[m] = !taxels.is_outside(loads[m]);
  }
  for (int64_t pair = 0; pair < pairs; ++pair) {
    Load center;
    Vec3 point, normal;
    double total = 0.0;
    for (size_t m = 0; m < loads.size(); ++m) {
      if (group[m] != pair) continue;
      const double push = dot(loads[m].force, loads[m].normal);
      center.patch = loads[m].patch;
      point = point + push * loads[m].point, normal = normal + push * loads[m].normal, total += push;
    }
    center.point = (1.0 / total) * point, center.normal = (1.0 / norm(normal)) * normal;
    const bool kept = !taxels.is_outside(center);
    for (size_t m = 0; m < loads.size(); ++m) {
      if (group[m] == pair) inside[m] = kept;
    }
  }
}

void Skin::net_wrenches(Range<const Contact> contacts, const ContactIds* ids, const BodyPoses& poses,
                        double* out) const {
  for (size_t c = 0; c < contacts.size(); ++c) {
    for (int side = 0; side < 2; ++side) {
      const int body = ids[c].body[side];
      if (body < 0 || slots[body] < 0) continue;
      const double sign = side == 1 ? 1.0 : -1.0;
      const Vec3 force = sign * contacts[c].force;
      const Vec3 torque = sign * contacts[c].torque + cross(contacts[c].position - poses.positions[body], force);
      const Vec3 local_force = poses.rotations[body].transposed(force);
      const Vec3 local_torque = poses.rotations[body].transposed(torque);
      double* row = out + 6 * slots[body];
      for (int i = 0; i < 3; ++i) row[i] += local_force[i], row[3 + i] += local_torque[i];
    }
  }
}

ContactState advance(const ContactState& state, double time, double normal_force, const ContactThresholds& limits) {
  constexpr double slack = 1e-9;  // times are sums of decimal fractions
  ContactState next = state;
  next.raw = normal_force >= limits.on;
  const bool asks = state.contact ? normal_force <= limits.off : normal_force >= limits.on;
  next.pending = asks ? std::min(state.pending, time) : kInfinity;
  if (asks && time - next.pending >= (state.contact ? limits.off_time : limits.on_time) - slack) {
    next.contact = !state.contact, next.since = time, next.pending = kInfinity;
  }
  return next;
}

PadContact pad_contact(Range<const TaxelContact> taxels, const Vec3* positions, const double* areas) {
  PadContact out;
  TaxelContact sum{};
  Vec3 center;
  for (size_t t = 0; t < taxels.size(); ++t) {
    const TaxelContact& own = taxels[t];
    if (own.normal <= 0.0) continue;
    sum.force = sum.force + own.force, sum.pressing = sum.pressing + own.pressing, sum.slip = sum.slip + own.slip;
    sum.normal += own.normal, sum.shear += own.shear, sum.capacity += own.capacity;
    center = center + own.normal * positions[t];
    out.area += areas[t];
  }
  if (sum.normal <= 0.0) {
    out.center = {std::nan(""), std::nan(""), std::nan("")};
    return out;
  }
  const double length = norm(sum.pressing), share = 1.0 / sum.normal;
  out.normal_force = sum.normal;
  out.center = share * center;
  if (length > 0.0) out.normal = (-1.0 / length) * sum.pressing;
  out.force = sum.force;
  out.slip_velocity = share * sum.slip;
  if (sum.capacity > 0.0) out.friction_utilization = sum.shear / sum.capacity;
  for (size_t t = 0; t < taxels.size(); ++t) {
    if (!(taxels[t].normal <= 0.0)) out.torque = out.torque + cross(positions[t] - out.center, taxels[t].force);
  }
  return out;
}

}  // namespace tactile

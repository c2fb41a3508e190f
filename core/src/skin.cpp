#include "tactile/skin.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tactile {

namespace {

constexpr double kFar = 1e100;  // coordinates of loads beyond this are not searched for: the physics diverged

double taxicab(const Vec3& v) { return std::abs(v.x) + std::abs(v.y) + std::abs(v.z); }

// Range of cells along one axis that intersect an interval, at least one.
struct Span {
  int64_t first, last;
};

Span cells_around(const Patch& patch, const Vec3& point, double radius, int axis) {
  const auto cell = [&](double x) {
    const double place = std::floor((x - patch.corner[axis]) / patch.cell);
    return static_cast<int64_t>(std::min(std::max(place, 0.0), patch.shape[axis] - 1.0));
  };
  return {cell(point[axis] - radius), cell(point[axis] + radius) + 1};
}

// Call a function for each spot in the cells of a patch around a point; return whether these are all cells.
template <class Visit>
bool visit_around(const Taxels& taxels, const Patch& patch, const Vec3& point, double radius, Visit visit) {
  Span around[3];
  for (int axis = 0; axis < 3; ++axis) around[axis] = cells_around(patch, point, radius, axis);
  for (int64_t i = around[0].first; i < around[0].last; ++i) {
    for (int64_t j = around[1].first; j < around[1].last; ++j) {
      const int64_t* row = taxels.cell_start.data() + patch.base + (i * patch.shape[1] + j) * patch.shape[2];
      for (int64_t e = row[around[2].first]; e < row[around[2].last]; ++e) visit(taxels.spots[e]);
    }
  }
  int64_t seen = 1, all = 1;
  for (int axis = 0; axis < 3; ++axis) {
    seen *= around[axis].last - around[axis].first;
    all *= patch.shape[axis];
  }
  return seen == all;
}

// Rotate a vector, normal to the unit vector a, by the shortest rotation from a to b.
Vec3 turned(const Vec3& v, const Vec3& a, const Vec3& b) {
  const double cosine = dot(a, b);
  if (cosine < -0.99) return v;
  const double k = dot(b, v) / (1.0 + cosine);
  return v - k * (a + b);
}

}  // namespace

void Taxels::sort_into_cells() {
  cell_start.clear();
  spots.resize(size());
  std::vector<int64_t> cell(size()), filled;
  for (Patch& patch : patches) {
    const auto number = static_cast<double>(patch.stop - patch.start);
    Vec3 low{kInfinity, kInfinity, kInfinity}, high{-kInfinity, -kInfinity, -kInfinity};
    for (int64_t t = patch.start; t < patch.stop; ++t) {
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], list[t].position[axis]);
        high[axis] = std::max(high[axis], list[t].position[axis]);
      }
    }
    // Cells are twice as large as the spacing, or larger so that there are at most about 2 n + 64.
    const auto count = [&](int axis) { return std::floor((high[axis] - low[axis]) / patch.cell) + 1.0; };
    patch.cell = 2.0 * patch.spacing;
    while (count(0) * count(1) * count(2) > 2.0 * number + 64.0) patch.cell *= 1.25;
    patch.corner = low;
    for (int axis = 0; axis < 3; ++axis) patch.shape[axis] = static_cast<int64_t>(count(axis));
    patch.base = static_cast<int64_t>(cell_start.size());
    patch.limited = 0;
    std::vector<int64_t> first(patch.shape[0] * patch.shape[1] * patch.shape[2] + 1);
    for (int64_t t = patch.start; t < patch.stop; ++t) {
      const Vec3 offset = list[t].position - low;
      int64_t at[3];
      for (int axis = 0; axis < 3; ++axis) at[axis] = static_cast<int64_t>(offset[axis] / patch.cell);
      cell[t] = (at[0] * patch.shape[1] + at[1]) * patch.shape[2] + at[2];
      ++first[cell[t] + 1];
      patch.limited |= list[t].limit < kInfinity;
    }
    first[0] = patch.start;
    std::partial_sum(first.begin(), first.end(), first.begin());
    cell_start.insert(cell_start.end(), first.begin(), first.end());
    for (int64_t t = patch.start; t < patch.stop; ++t) spots[first[cell[t]]++] = {list[t].position, t};
  }
}

int64_t Taxels::nearest(const Load& load) const {
  const Patch& patch = patches[load.patch];
  if (!(taxicab(load.point) < kFar)) return patch.start;
  const double reach = 2.0 * patch.spacing;
  for (double radius = patch.spacing;; radius *= 2.0) {
    int64_t best = -1, facing = -1;
    double best_d = kInfinity, facing_d = kInfinity;
    const bool all = visit_around(*this, patch, load.point, radius, [&](const Spot& spot) {
      const Vec3 away = spot.position - load.point;
      const double d = dot(away, away);
      const int64_t q = spot.taxel;
      if (d < best_d || (d == best_d && q < best)) best = q, best_d = d;
      if ((d < facing_d || (d == facing_d && q < facing)) && list[q].faces(load.normal)) facing = q, facing_d = d;
    });
    const double within = std::min(radius, reach);
    if (facing >= 0 && facing_d <= within * within) return facing;
    if (radius >= reach && (all || (best >= 0 && best_d <= radius * radius))) return best;
  }
}

bool Taxels::is_outside(const Load& load) const {
  if (!patches[load.patch].limited) return false;
  const Taxel& taxel = list[nearest(load)];
  const Vec3 away = taxel.position - load.point;
  return taxel.limit < kInfinity && (dot(away, away) > taxel.limit * taxel.limit || !taxel.faces(load.normal));
}

void Taxels::k_nearest(const Vec3& point, int64_t patch_index, int64_t k, int64_t* out, double* distance) const {
  const Patch& patch = patches[patch_index];
  if (!(taxicab(point) < kFar)) {
    std::iota(out, out + k, patch.start);
    std::fill(distance, distance + k, std::nan(""));
    return;
  }
  for (double radius = patch.spacing;; radius *= 2.0) {
    int64_t found = 0;
    const bool all = visit_around(*this, patch, point, radius, [&](const Spot& spot) {
      const int64_t q = spot.taxel;
      const double d = norm(spot.position - point);
      // Insert it in order of distance; equally near taxels are in order of their index.
      int64_t at = found;
      while (at > 0 && (d < distance[at - 1] || (d == distance[at - 1] && q < out[at - 1]))) {
        if (at < k) out[at] = out[at - 1], distance[at] = distance[at - 1];
        --at;
      }
      if (at < k) out[at] = q, distance[at] = d, found = std::min(found + 1, k);
    });
    if (all || (found == k && distance[k - 1] <= radius)) return;
  }
}

double Taxels::modulus(const Load& load) const {
  const double own = patches[load.patch].modulus;
  return load.other_patch < 0 ? own : 1.0 / (1.0 / own + 1.0 / patches[load.other_patch].modulus);
}

void Sums::fit(size_t taxels, int channels) {
  channels_ = channels;
  if (rows_.size() < taxels * (1 + channels)) rows_.resize(taxels * (1 + channels));
}

void Sums::clear() {
  for (const int64_t taxel : touched_) {
    double* row = rows_.data() + taxel * (1 + channels_);
    std::fill(row, row + 1 + channels_, 0.0);
  }
  touched_.clear();
}

void Search::spread(const Taxels& taxels, const Load& load, Law law, double reach, std::vector<int64_t>& taxel,
                    std::vector<double>& weight) {
  if (law == Law::kNearest) {
    taxel.push_back(taxels.nearest(load)), weight.push_back(1.0);
    return;
  }
  if (law == Law::kHertz) {
    // H. Hertz (1882): the radius of the contact area, as in K. L. Johnson, Contact Mechanics (1985), section 4.2.
    const double force = std::max(dot(load.force, load.normal), 0.0);
    reach = std::cbrt(0.75 * force * load.radius / taxels.modulus(load));
  }
  const size_t first = taxel.size();
  walk(taxels, load, reach, law == Law::kLinear ? 2.0 : 0.0, taxel);
  double width = taxels.patches[load.patch].spacing;
  if (law == Law::kLinear) {
    for (size_t k = first; k < taxel.size(); ++k) {
      width = std::min(width, std::max(taxels[taxel[k]].spacing, distance_[taxel[k]]));
    }
  }
  for (size_t k = first; k < taxel.size(); ++k) {
    const Taxel& own = taxels[taxel[k]];
    const double distance = distance_[taxel[k]];
    distance_[taxel[k]] = kInfinity;
    if (law == Law::kLinear) {
      const double part = std::min(own.spacing, width) / width;
      weight.push_back(part * part * std::max(1.0 - 0.5 * distance / width, 0.0));
    } else if (law == Law::kHertz) {
      const double relative = distance / reach;
      weight.push_back(distance < reach ? own.area * std::sqrt(1.0 - relative * relative) : 0.0);
    } else {
      weight.push_back(distance);
    }
  }
}

// Find the taxels around a load by walking over the skin from the one that receives it. The others face the load,
// are connected to it by a path over such taxels, and are within `reach` plus `spacings` times the spacing of the
// first taxel's pad, or its distance if it is farther away, at most the patch's spacing.
//
// Distances are either straight or along the surface. For distances along the surface, summing up edge lengths is
// not accurate enough: on a triangle mesh, it overestimates distances in some directions by up to 40 %. Therefore
// each step updates the vector from the load to the taxel in the tangent plane (the discrete exponential map of
// R. Schmidt, C. Grimm, B. Wyvill, Interactive Decal Compositing with Discrete Exponential Maps, SIGGRAPH 2006): the
// vector is rotated with the plane from one taxel to the next, and the flattened edge is added. The length of the
// vector is the distance. This is exact on flat parts. Up to five spacings away, it is within 2 % of the true
// distance on spheres and cylinders with radii of at least four spacings (4 % for at least two), and within 0.2
// spacings across the edges of a box.
void Search::walk(const Taxels& taxels, const Load& load, double reach, double spacings,
                  std::vector<int64_t>& queue) {
  if (distance_.size() < taxels.size()) distance_.resize(taxels.size(), kInfinity);
  const int64_t start = taxels.nearest(load);
  const double away = norm(taxels[start].position - load.point);
  reach += spacings *
           std::min(std::max(taxels[start].spacing, away), taxels.patches[load.patch].spacing);
  if (taxels.along_surface) return walk_along(taxels, load, start, reach, queue);
  // Breadth-first search with straight distances.
  size_t head = queue.size();
  queue.push_back(start), distance_[start] = away;
  for (; head < queue.size(); ++head) {
    const Taxel& taxel = taxels[queue[head]];
    for (int32_t e = taxel.begin; e < taxel.end; ++e) {
      const int64_t q = taxels.neighbors[e];
      if (distance_[q] < kInfinity) continue;
      const Vec3 offset = taxels[q].position - load.point;
      const double d = dot(offset, offset);
      if (d <= reach * reach && d < kInfinity && taxels[q].faces(load.normal)) {
        distance_[q] = std::sqrt(d), queue.push_back(q);
      }
    }
  }
}

// Dijkstra's algorithm, with distances along the surface.
void Search::walk_along(const Taxels& taxels, const Load& load, int64_t start, double reach,
                        std::vector<int64_t>& queue) {
  if (vector_.size() < taxels.size()) vector_.resize(taxels.size());
  const Vec3 n = taxicab(load.normal) != 0.0 ? -1.0 * load.normal : taxels[start].normal;
  // The load is assumed to be on the surface, so the first step's component along the normal is removed.
  const Vec3 step = taxels[start].position - load.point;
  Vec3 vector = turned(step - dot(step, n) * n, n, taxels[start].normal);
  if (!(taxicab(vector) < kFar)) vector = {};
  vector_[start] = vector, distance_[start] = norm(vector);
  push(distance_[start], start);
  while (!heap_.empty()) {
    const auto [distance, taxel] = pop();
    if (distance > distance_[taxel]) continue;
    queue.push_back(taxel);
    const Taxel& here = taxels[taxel];
    for (int32_t e = here.begin; e < here.end; ++e) {
      const int64_t q = taxels.neighbors[e];
      const Taxel& there = taxels[q];
      if (distance_[q] <= distance || !there.faces(load.normal)) continue;
      // Rotate the vector into the plane midway between the two tangent planes, and project the edge onto it
      // without changing its length.
      Vec3 middle = here.normal + there.normal;
      const double length = dot(middle, middle);
      middle = (length > 1e-12 ? 1.0 / std::sqrt(length) : 0.0) * middle;
      const Vec3 edge = there.position - here.position;
      const double square = dot(edge, edge), height = dot(edge, middle), flat = square - height * height;
      const double stretch = flat > 1e-6 * square ? std::sqrt(square / flat) : 1.0;
      vector = turned(vector_[taxel], here.normal, middle) + stretch * (edge - height * middle);
      const double d = std::max(norm(vector), distance);
      if (d <= reach && d < distance_[q]) {
        distance_[q] = d, vector_[q] = turned(vector, middle, there.normal);
        push(d, q);
      }
    }
  }
}

// Push an entry onto a binary heap, the nearest first.
void Search::push(double distance, int64_t taxel) {
  size_t at = heap_.size();
  heap_.emplace_back();
  for (; at > 0 && heap_[(at - 1) / 2].distance > distance; at = (at - 1) / 2) heap_[at] = heap_[(at - 1) / 2];
  heap_[at] = {distance, taxel};
}

Search::Entry Search::pop() {
  const Entry top = heap_.front(), moved = heap_.back();
  heap_.pop_back();
  const size_t count = heap_.size();
  size_t at = 0;
  while (2 * at + 1 < count) {
    size_t child = 2 * at + 1;
    if (child + 1 < count && heap_[child + 1].distance < heap_[child].distance) ++child;
    if (heap_[child].distance >= moved.distance) break;
    heap_[at] = heap_[child];
    at = child;
  }
  if (count) heap_[at] = moved;
  return top;
}

}  // namespace tactile

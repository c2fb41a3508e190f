#include "tactile/rays.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tactile {

namespace {

constexpr int kLeaf = 2;        // largest number of triangles in a leaf
constexpr double kHuge = 1e200;  // used in place of 1 / 0, so that its product with 0 is 0

Interval common(const Interval& a, const Interval& b) {
  const Interval both{std::max(a.enter, b.enter), std::min(a.leave, b.leave)};
  return both.enter < both.leave ? both : Interval{};
}

Interval intersect_plane(const Ray& ray) {
  const double z = ray.start.z, w = ray.direction.z;
  if (w == 0.0) return z <= 0.0 ? Interval{-kInfinity, kInfinity} : Interval{};
  return w < 0.0 ? Interval{-z / w, kInfinity} : Interval{-kInfinity, -z / w};
}

// The direction may have any length; distances are then multiples of it. Starting from the line's point
// nearest to the center avoids cancellation if the ray starts far away.
Interval intersect_sphere(const Ray& ray, double radius) {
  const double square = dot(ray.direction, ray.direction);
  const double nearest = -dot(ray.start, ray.direction) / square;
  const Vec3 p = ray.start + nearest * ray.direction;
  const double rest = radius * radius - dot(p, p);
  if (rest <= 0.0) return {};
  const double half = std::sqrt(rest / square);
  return {nearest - half, nearest + half};
}

Interval intersect_ellipsoid(const Ray& ray, const Vec3& size) {
  const double a = 1.0 / size.x, b = 1.0 / size.y, c = 1.0 / size.z;
  const auto scaled = [&](const Vec3& v) { return Vec3{a * v.x, b * v.y, c * v.z}; };
  return intersect_sphere({scaled(ray.start), scaled(ray.direction)}, 1.0);
}

// A slab normal to an axis: z and w are the components of the line's point and direction along it.
Interval intersect_slab(double z, double w, double half) {
  if (w == 0.0) return std::abs(z) <= half ? Interval{-kInfinity, kInfinity} : Interval{};
  const double one = (-half - z) / w, other = (half - z) / w;
  return {std::min(one, other), std::max(one, other)};
}

// An infinite cylinder along z.
Interval intersect_tube(const Ray& ray, double radius) {
  const Vec3 p{ray.start.x, ray.start.y, 0.0}, d{ray.direction.x, ray.direction.y, 0.0};
  if (dot(d, d) < 1e-30) return dot(p, p) <= radius * radius ? Interval{-kInfinity, kInfinity} : Interval{};
  return intersect_sphere({p, d}, radius);
}

Interval intersect_cylinder(const Ray& ray, const Vec3& size) {
  return common(intersect_tube(ray, size.x), intersect_slab(ray.start.z, ray.direction.z, size.y));
}

// The spheres at the ends matter where the line crosses the infinite cylinder beyond the half length.
Interval intersect_capsule(const Ray& ray, const Vec3& size) {
  Interval tube = intersect_tube(ray, size.x);
  if (tube.enter > tube.leave) return {};
  const double first = ray.start.z + tube.enter * ray.direction.z;
  const double last = ray.start.z + tube.leave * ray.direction.z;
  const auto end = [&](double at) {
    return intersect_sphere({ray.start - Vec3{0.0, 0.0, std::copysign(size.y, at)}, ray.direction}, size.x);
  };
  if (std::abs(first) > size.y) tube.enter = end(first).enter;
  if (std::abs(last) > size.y) tube.leave = end(last).leave;
  return tube.enter < tube.leave ? tube : Interval{};
}

double inverse(double value) { return std::abs(value) > 1.0 / kHuge ? 1.0 / value : kHuge; }

// Test by the separating axis theorem whether a ray misses a box. The test needs no division, which pays off
// because most rays that come near a mesh miss it.
bool misses(const Box& box, const Ray& ray, double reach) {
  const double half = 0.5 * reach;
  const Vec3 d = ray.direction, p = ray.start + half * d - box.center;
  const Vec3 e{std::abs(d.x), std::abs(d.y), std::abs(d.z)};
  const double a = box.half.x, b = box.half.y, c = box.half.z;
  if (std::abs(p.x) > a + half * e.x || std::abs(p.y) > b + half * e.y || std::abs(p.z) > c + half * e.z) {
    return true;
  }
  return std::abs(p.y * d.z - p.z * d.y) > b * e.z + c * e.y ||
         std::abs(p.z * d.x - p.x * d.z) > c * e.x + a * e.z ||
         std::abs(p.x * d.y - p.y * d.x) > a * e.y + b * e.x;
}

// Order of axes and shear that align a ray with an axis (S. Woop, C. Benthin, I. Wald, Watertight
// Ray/Triangle Intersection, JCGT 2(1), 2013).
struct Shear {
  int a, b, c;  // in cyclic order; c is the axis with the largest component of the direction
  double sa, sb, sc;

  explicit Shear(const Vec3& d) {
    const double x = std::abs(d.x), y = std::abs(d.y), z = std::abs(d.z);
    c = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    a = (c + 1) % 3, b = (c + 2) % 3;
    sa = d[a] / d[c], sb = d[b] / d[c], sc = 1.0 / d[c];
  }
};

// Side of the edge from p to q on which a line passes. A line through the edge counts as being on one side,
// which is the same for both triangles of the edge.
int side_of(double area, double pa, double pb, double qa, double qb) {
  if (area != 0.0) return area > 0.0 ? 1 : -1;
  if (pb != qb) return pb > qb ? 1 : -1;
  return qa > pa ? 1 : -1;
}

// Compute where a line crosses a triangle. Returns 0 for a miss, else the side from which the line comes, and
// the distance, which may be negative. A line through an edge or a corner crosses exactly one of the
// triangles there, because `side_of` returns opposite signs for the two triangles of an edge.
int crossing(const std::array<Vec3, 3>& triangle, const Vec3& start, const Shear& s, double* at) {
  const Vec3 p = triangle[0] - start, q = triangle[1] - start, r = triangle[2] - start;
  const double pc = p[s.c], qc = q[s.c], rc = r[s.c];
  const double pa = p[s.a] - s.sa * pc, qa = q[s.a] - s.sa * qc, ra = r[s.a] - s.sa * rc;
  const double pb = p[s.b] - s.sb * pc, qb = q[s.b] - s.sb * qc, rb = r[s.b] - s.sb * rc;
  const double first = ra * qb - rb * qa, second = pa * rb - pb * ra, third = qa * pb - qb * pa;
  const int side = side_of(second, pa, pb, ra, rb);
  if (side_of(first, ra, rb, qa, qb) != side || side_of(third, qa, qb, pa, pb) != side) return 0;
  const double total = first + second + third;
  if (total == 0.0) return 0;
  *at = (first * pc + second * qc + third * rc) * s.sc / total;
  return side;
}

}  // namespace

Interval intersect_box(const Ray& ray, const Vec3& half) {
  const Interval x = intersect_slab(ray.start.x, ray.direction.x, half.x);
  const Interval y = intersect_slab(ray.start.y, ray.direction.y, half.y);
  const Interval z = intersect_slab(ray.start.z, ray.direction.z, half.z);
  return common({std::max(x.enter, y.enter), std::min(x.leave, y.leave)}, z);
}

Interval intersect(int type, const Ray& ray, const Vec3& size) {
  switch (type) {
    case mjGEOM_PLANE: return intersect_plane(ray);
    case mjGEOM_SPHERE: return intersect_sphere(ray, size.x);
    case mjGEOM_CAPSULE: return intersect_capsule(ray, size);
    case mjGEOM_ELLIPSOID: return intersect_ellipsoid(ray, size);
    case mjGEOM_CYLINDER: return intersect_cylinder(ray, size);
    default: return intersect_box(ray, size);
  }
}

Mesh::Mesh(const mjModel& model, int mesh) {
  const float* vertices = model.mesh_vert + 3 * model.mesh_vertadr[mesh];
  const int* faces = model.mesh_face + 3 * model.mesh_faceadr[mesh];
  const int count = model.mesh_facenum[mesh];
  std::vector<std::array<Vec3, 3>> corners(count);
  std::vector<Vec3> low(count), high(count);
  // Number of times that the triangles use an edge in one direction minus the other; vertices at the same
  // place count as one.
  std::map<std::array<float, 3>, int> places;
  std::map<std::pair<int, int>, int> edges;
  for (int t = 0; t < count; ++t) {
    int at[3];
    for (int k = 0; k < 3; ++k) {
      const float* v = vertices + 3 * faces[3 * t + k];
      corners[t][k] = {v[0], v[1], v[2]};
      radius_ = std::max(radius_, norm(corners[t][k]));
      at[k] = places.try_emplace({v[0], v[1], v[2]}, static_cast<int>(places.size())).first->second;
    }
    for (int k = 0; k < 3; ++k) {
      const int from = at[k], to = at[(k + 1) % 3];
      if (from != to) edges[std::minmax(from, to)] += from < to ? 1 : -1;
      low[t][k] = std::min({corners[t][0][k], corners[t][1][k], corners[t][2][k]});
      high[t][k] = std::max({corners[t][0][k], corners[t][1][k], corners[t][2][k]});
    }
  }
  closed_ = std::all_of(edges.begin(), edges.end(), [](const auto& edge) { return edge.second == 0; });
  radius_ += kPad;
  tree_ = Tree::build(low, high, kLeaf);
  for (const int t : tree_.order) triangles_.push_back(corners[t]);
}

double Mesh::hit(const Ray& ray, double reach) const {
  if (misses(bounds(), ray, reach)) return kInfinity;
  if (closed_ && contains(ray.start)) return 0.0;
  return cross(ray, reach, false).distance;
}

// Count crossings along the shortest way from the point out of the bounding box.
bool Mesh::contains(const Vec3& point) const {
  double out = kInfinity;
  Ray ray{point, {}};
  for (int k = 0; k < 3; ++k) {
    const double off = point[k] - bounds().center[k], rest = bounds().half[k] - std::abs(off);
    if (rest < 0.0) return false;
    if (rest < out) {
      out = rest;
      ray.direction = {};
      ray.direction[k] = std::copysign(1.0, off);
    }
  }
  return cross(ray, out, true).turns != 0;
}

Mesh::Crossing Mesh::cross(const Ray& ray, double reach, bool count) const {
  const Shear shear(ray.direction);
  const Vec3 inverses{inverse(ray.direction.x), inverse(ray.direction.y), inverse(ray.direction.z)};
  double nearest = kInfinity;
  int turns = 0;
  for (size_t n = 0; n < tree_.nodes.size();) {
    const Tree::Node& node = tree_.nodes[n];
    double enter = 0.0, leave = count ? reach : std::min(nearest, reach);
    for (int k = 0; k < 3; ++k) {
      const double middle = (node.box.center[k] - ray.start[k]) * inverses[k];
      const double half = node.box.half[k] * std::abs(inverses[k]);
      enter = std::max(middle - half, enter), leave = std::min(middle + half, leave);
    }
    if (!(enter <= leave)) {
      n = node.skip;
      continue;
    }
    for (int t = node.begin; t < node.end; ++t) {
      double at;
      const int side = crossing(triangles_[t], ray.start, shear, &at);
      if (side != 0 && at >= 0.0) {
        turns += side;
        nearest = std::min(nearest, at);
      }
    }
    ++n;
  }
  return {nearest <= reach ? nearest : kInfinity, turns};
}

HeightField::HeightField(const mjModel& model, int field)
    : rows(model.hfield_nrow[field]), columns(model.hfield_ncol[field]), address(model.hfield_adr[field]) {
  std::copy_n(model.hfield_size + 4 * field, 4, size);
}

namespace {

// Elevation of the surface at a fractional column and row, as a fraction of the field's height. Each cell is
// divided along the diagonal from its first to its last corner.
double elevation(const float* heights, int rows, int columns, double i, double j) {
  const int column = std::min(std::max(static_cast<int>(i), 0), columns - 2);
  const int row = std::min(std::max(static_cast<int>(j), 0), rows - 2);
  i -= column, j -= row;
  const float* cell = heights + row * columns + column;
  const double first = cell[0], last = cell[columns + 1];
  if (i >= j) {
    const double side = cell[1];
    return first + i * (side - first) + j * (last - side);
  }
  const double side = cell[columns];
  return first + j * (side - first) + i * (last - side);
}

// The integers that value + t * rate passes as t grows.
struct Steps {
  double value, rate, next = 0.0, step = 0.0;

  Steps(double value, double rate, double at) : value(value), rate(rate) {
    const double now = value + at * rate;
    if (rate > 0.0) next = std::floor(now) + 1.0, step = 1.0;
    if (rate < 0.0) next = std::ceil(now) - 1.0, step = -1.0;
  }
  double at() const { return step != 0.0 ? (next - value) / rate : kInfinity; }
};

}  // namespace

double HeightField::hit(const Ray& ray, const float* heights, double reach) const {
  heights += address;
  const Vec3 solid{size[0], size[1], 0.5 * (size[2] + size[3])};
  const Interval box = intersect_box({ray.start - Vec3{0.0, 0.0, 0.5 * (size[2] - size[3])}, ray.direction}, solid);
  double at = std::max(box.enter, 0.0);
  const double end = std::min(box.leave, reach);
  if (!(at <= end)) return kInfinity;
  // In units of cells, the surface is flat between integer values of column, row and column - row.
  const double x = (columns - 1) / (2 * size[0]), y = (rows - 1) / (2 * size[1]);
  const double i = (ray.start.x + size[0]) * x, di = ray.direction.x * x;
  const double j = (ray.start.y + size[1]) * y, dj = ray.direction.y * y;
  const auto clearance = [&](double t) {
    return ray.start.z + t * ray.direction.z - size[2] * elevation(heights, rows, columns, i + t * di, j + t * dj);
  };
  double above = clearance(at);
  if (above <= 0.0) return at;
  Steps steps[3] = {{i, di, at}, {j, dj, at}, {i - j, di - dj, at}};
  while (at < end) {
    const double stop = std::min({end, steps[0].at(), steps[1].at(), steps[2].at()});
    for (Steps& each : steps) {
      if (each.at() == stop) each.next += each.step;
    }
    const double height = clearance(stop);
    if (height <= 0.0) return at + (stop - at) * above / (above - height);
    at = stop, above = height;
  }
  return kInfinity;
}

}  // namespace tactile

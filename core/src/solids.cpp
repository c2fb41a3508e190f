#include "tactile/solids.h"

#include <algorithm>

#include "tactile/lanes.h"

namespace tactile {

namespace {

// A line is parallel to a plane if its direction's absolute component along the normal is below this.
constexpr double kParallel = 1e-12;
constexpr int64_t kMostCells = 4096, kCellsPerTriangle = 2;
// Tolerance of barycentric coordinates, so that a line through a shared edge hits at least one triangle.
constexpr double kEdge = 1e-12;
// Crossings of a line with triangles count as one if their heights differ by at most this [m].
constexpr double kSame = 1e-7;

struct Interval {
  double enter = kInfinity, leave = -kInfinity;
};

// The interval of t in which a t^2 + 2 b t + c is negative.
Interval negative(double a, double b, double c) {
  if (a < kParallel) return c <= 0.0 ? Interval{-kInfinity, kInfinity} : Interval{};
  double root = b * b - a * c;
  if (root < 0.0) return {};
  root = std::sqrt(root);
  return {(-b - root) / a, (-b + root) / a};
}

// Where a line enters and leaves an ellipsoid or cylinder.
Interval intersect(const Solid& solid, const Vec3& p, const Vec3& d) {
  const double a = solid.size.x, b = solid.size.y, c = solid.size.z;
  if (solid.kind == mjGEOM_ELLIPSOID) {
    return negative(d.x / a * (d.x / a) + d.y / b * (d.y / b) + d.z / c * (d.z / c),
                    p.x * d.x / (a * a) + p.y * d.y / (b * b) + p.z * d.z / (c * c),
                    p.x / a * (p.x / a) + p.y / b * (p.y / b) + p.z / c * (p.z / c) - 1.0);
  }
  const Interval tube = negative(d.x * d.x + d.y * d.y, p.x * d.x + p.y * d.y, p.x * p.x + p.y * p.y - a * a);
  if (std::abs(d.z) <= kParallel) return std::abs(p.z) <= b ? tube : Interval{};
  const double middle = -p.z * (1.0 / d.z), reach = b * std::abs(1.0 / d.z);
  return {std::max(tube.enter, middle - reach), std::min(tube.leave, middle + reach)};
}

// Reduce the gaps of four points at a time to those that `gap_at` writes for points in the frame of the solid.
template <class GapAt>
inline __attribute__((always_inline)) void reduce(const Placed& placed, const Columns& points, const GapAt& gap_at) {
  const Vec3 t = placed.position, *r = placed.rotation.row;
  for (size_t k = 0; k < points.count; k += kLanes) {
    Lanes x, y, z, gap, here;
    load(x, points.x + k), load(y, points.y + k), load(z, points.z + k), load(gap, points.gap + k);
    x -= t.x, y -= t.y, z -= t.z;
    const Lanes px = r[0].x * x + r[1].x * y + r[2].x * z, py = r[0].y * x + r[1].y * y + r[2].y * z;
    const Lanes pz = r[0].z * x + r[1].z * y + r[2].z * z;
    gap_at(px, py, pz, here);
    gap = here < gap ? here : gap;
    store(points.gap + k, gap);
  }
}

// The lines go along -z of the frame of the points; `up` is that z axis in the frame of the solid.

TACTILE_WIDE void reduce_to_plane(const Vec3& up, const Placed& placed, const Columns& points) {
  const double slope = up.z > kParallel ? 1.0 / up.z : 0.0;
  const double below = up.z >= 0.0 ? -kInfinity : kInfinity;  // for lines parallel to the plane or away from it
  reduce(placed, points, [&](const Lanes&, const Lanes&, const Lanes& z, Lanes& here) __attribute__((always_inline)) {
    here = slope > 0.0 ? z * slope : z < 0.0 ? Lanes{} + below : Lanes{} + kInfinity;
  });
}

TACTILE_WIDE void reduce_to_sphere(const Vec3& up, double radius, const Placed& placed, const Columns& points) {
  reduce(placed, points, [&](const Lanes& x, const Lanes& y, const Lanes& z, Lanes& here) __attribute__((always_inline)) {
    const Lanes height = up.x * x + up.y * y + up.z * z;
    const Lanes root = radius * radius - (x * x + y * y + z * z - height * height);
    Lanes half;
    square_root(half, root);
    here = (root >= 0.0) & (height + half >= 0.0) ? height - half : Lanes{} + kInfinity;
  });
}

// The faces normal to one axis of a box.
struct Slab {
  double inverse;  // of the line's component along the axis
  double limit;    // points beyond this are outside, if the line is parallel to the faces
  double reach;    // distance along the line from the middle to a face

  Slab(double component, double half) {
    const bool crosses = std::abs(component) > kParallel;
    inverse = crosses ? 1.0 / component : 0.0;
    limit = crosses ? kInfinity : half;
    reach = crosses ? half * std::abs(inverse) : kInfinity;
  }
  // Reduce an interval of the line to the part between the faces.
  __attribute__((always_inline)) void clip(const Lanes& at, Lanes& first, Lanes& last) const {
    const Lanes middle = at * inverse, half = (at <= limit) & (at >= -limit) ? Lanes{} + reach : Lanes{} - kInfinity;
    const Lanes near = middle - half, far = middle + half;
    first = near > first ? near : first, last = far < last ? far : last;
  }
};

TACTILE_WIDE void reduce_to_box(const Vec3& up, const Vec3& size, const Placed& placed, const Columns& points) {
  const Slab a(up.x, size.x), b(up.y, size.y), c(up.z, size.z);
  reduce(placed, points, [&](const Lanes& x, const Lanes& y, const Lanes& z, Lanes& here) __attribute__((always_inline)) {
    Lanes first = Lanes{} - kInfinity, last = Lanes{} + kInfinity;
    a.clip(x, first, last), b.clip(y, first, last), c.clip(z, first, last);
    here = (first <= last) & (last >= 0.0) ? first : Lanes{} + kInfinity;
  });
}

// Lines enter and leave a capsule through its cylinder or through one of the balls at its ends.
TACTILE_WIDE void reduce_to_capsule(const Vec3& up, double radius, double length, const Placed& placed,
                                    const Columns& points) {
  const double across = up.x * up.x + up.y * up.y;
  const double inverse = across >= kParallel ? 1.0 / across : 0.0;
  const double least = across >= kParallel ? 0.0 : kInfinity;
  reduce(placed, points, [&](const Lanes& x, const Lanes& y, const Lanes& z, Lanes& here) __attribute__((always_inline)) {
    const Lanes none = Lanes{} + kInfinity, middle = x * up.x + y * up.y, outside = x * x + y * y - radius * radius;
    Lanes root = middle * middle - across * outside, half;
    square_root(half, root);
    Lanes first = (middle - half) * inverse, last = (middle + half) * inverse;
    const Lanes in = z - first * up.z, out = z - last * up.z;
    first = (root >= least) & (in <= length) & (in >= -length) ? first : none;
    last = (root >= least) & (out <= length) & (out >= -length) ? last : -none;
    for (const double end : {-length, length}) {
      const Lanes there = z - end, center = middle + there * up.z;
      root = center * center - outside - there * there;
      square_root(half, root);
      const Lanes near = root >= 0.0 ? center - half : none, far = root >= 0.0 ? center + half : -none;
      first = near < first ? near : first, last = far > last ? far : last;
    }
    here = last >= 0.0 ? first : none;
  });
}

}  // namespace

void reduce_gaps(const Solid& solid, const Placed& placed, const Columns& points) {
  const Vec3 up = placed.rotation.row[2], &size = solid.size;
  switch (solid.kind) {
    case mjGEOM_PLANE: return reduce_to_plane(up, placed, points);
    case mjGEOM_SPHERE: return reduce_to_sphere(up, size.x, placed, points);
    case mjGEOM_BOX: return reduce_to_box(up, size, placed, points);
    case mjGEOM_CAPSULE: return reduce_to_capsule(up, size.x, size.y, placed, points);
    default: break;
  }
  reduce(placed, points, [&](const Lanes& x, const Lanes& y, const Lanes& z, Lanes& here) {
    for (int i = 0; i < kLanes; ++i) {
      const Interval inside = intersect(solid, {x[i], y[i], z[i]}, -1.0 * up);
      here[i] = inside.enter <= inside.leave && inside.leave >= 0.0 ? inside.enter : kInfinity;
    }
  });
}

double TriangleBins::Shape::height(double px, double py) const {
  const double dx = px - x, dy = py - y;
  const double a = dx * ax + dy * ay, b = dx * bx + dy * by;
  const bool inside = a >= -kEdge && b >= -kEdge && a + b <= 1.0 + kEdge;
  return inside ? z + a * up_a + b * up_b : std::nan("");
}

void TriangleBins::fill(const Solids& solids, Range<const Placed> placed, const Columns& points, double reach) {
  const double* given[3] = {points.x, points.y, points.z};
  Vec3 high{-kInfinity, -kInfinity, -kInfinity};
  low_ = {kInfinity, kInfinity, kInfinity};
  for (int i = 0; i < 3; ++i) {
    for (size_t k = 0; k < points.count; ++k) {
      low_[i] = std::min(low_[i], given[i][k] - reach), high[i] = std::max(high[i], given[i][k] + reach);
    }
  }
  // Above the points, triangles count at any height, because points can be deep in a solid.
  for (const Placed& each : placed) {
    const Vec3 &up = each.rotation.row[2], &center = solids.table[each.solid].box.center;
    const Vec3& half = solids.table[each.solid].box.half;
    double top = each.position.z + kSame;
    for (int k = 0; k < 3; ++k) top += up[k] * center[k] + std::abs(up[k]) * half[k];
    high.z = std::max(high.z, top);
  }

  corners_.clear();
  for (const Placed& each : placed) {
    const Mat3& r = each.rotation;
    Vec3 least, most;  // the box around the box, in the frame of the solid
    for (int i = 0; i < 3; ++i) {
      double center = 0.0, half = 0.0;
      for (int k = 0; k < 3; ++k) {
        center += r.row[k][i] * (0.5 * (low_[k] + high[k]) - each.position[k]);
        half += std::abs(r.row[k][i]) * 0.5 * (high[k] - low_[k]);
      }
      least[i] = center - half, most[i] = center + half;
    }
    const auto beside = [](double a, double b, double c, double from, double to) {
      return std::min({a, b, c}) > to || std::max({a, b, c}) < from;
    };
    const Solid& solid = solids.table[each.solid];
    for (int64_t n = solid.first_node; n < solid.last_node;) {
      const BoxNode& node = solids.nodes[n];
      const Vec3 &center = node.box.center, &half = node.box.half;
      bool apart = false;
      for (int i = 0; i < 3; ++i) apart |= center[i] - half[i] > most[i] || center[i] + half[i] < least[i];
      if (apart) {
        n = node.skip;
        continue;
      }
      ++n;
      for (int64_t f = node.first; f < node.last; ++f) {
        const auto& own = solids.triangles[f];
        apart = false;
        for (int i = 0; i < 3; ++i) apart |= beside(own[0][i], own[1][i], own[2][i], least[i], most[i]);
        if (apart) continue;
        std::array<Vec3, 3> corner;
        for (int k = 0; k < 3; ++k) {
          for (int i = 0; i < 3; ++i) {
            const Vec3& row = r.row[i];
            corner[k][i] = each.position[i] + row.x * own[k].x + row.y * own[k].y + row.z * own[k].z;
          }
        }
        for (int i = 0; i < 2; ++i) apart |= beside(corner[0][i], corner[1][i], corner[2][i], low_[i], high[i]);
        if (!apart) corners_.push_back(corner);
      }
    }
  }

  const double width = std::max(high.x - low_.x, 1e-9), depth = std::max(high.y - low_.y, 1e-9);
  const int64_t found = corners_.size();
  const int64_t most = std::min(std::max(kCellsPerTriangle * found, int64_t{1}), kMostCells);
  scale_ = std::sqrt(static_cast<double>(most) / (width * depth));
  number_[0] = std::clamp(static_cast<int64_t>(width * scale_), int64_t{1}, kMostCells);
  number_[1] = std::clamp(static_cast<int64_t>(depth * scale_), int64_t{1}, kMostCells);

  shapes_.clear();
  size_t count = 0;
  for (size_t t = 0; t < corners_.size(); ++t) {
    const auto [p, q, r] = corners_[t];
    const double ux = q.x - p.x, uy = q.y - p.y, vx = r.x - p.x, vy = r.y - p.y, area = ux * vy - uy * vx;
    if (area == 0.0) continue;  // parallel to z
    const double facing = area > 0.0 ? 1.0 : -1.0;
    shapes_.push_back({p.x, p.y, vy / area, -vx / area, -uy / area, ux / area, p.z, q.z - p.z, r.z - p.z, facing});
    corners_[count++] = corners_[t];
  }
  corners_.resize(count);

  begin_.assign(number_[0] * number_[1] + 1, 0);
  for_each_cell([&](int64_t cell, int64_t) { ++begin_[cell]; });
  for (size_t cell = 1; cell < begin_.size(); ++cell) begin_[cell] += begin_[cell - 1];
  order_.resize(begin_.back());
  for_each_cell([&](int64_t cell, int64_t t) { order_[--begin_[cell]] = t; });
}

// Points outside the grid belong to the nearest cell at its border.
int64_t TriangleBins::cell(double value, int axis) const {
  const double at = (value - low_[axis]) * scale_, last = static_cast<double>(number_[axis] - 1);
  return at > 0.0 ? static_cast<int64_t>(std::min(at, last)) : 0;
}

TriangleBins::Span TriangleBins::cells(const std::array<Vec3, 3>& corners, int axis) const {
  const double a = corners[0][axis], b = corners[1][axis], c = corners[2][axis];
  return {cell(std::min({a, b, c}), axis), cell(std::max({a, b, c}), axis)};
}

// Call visit(cell, triangle) for each cell that a triangle overlaps.
template <class Visit>
void TriangleBins::for_each_cell(Visit visit) const {
  const auto [nx, ny] = number_;
  for (size_t t = 0; t < shapes_.size(); ++t) {
    const Shape& s = shapes_[t];
    const Span across = cells(corners_[t], 0), along = cells(corners_[t], 1);
    // Maximum change of the barycentric coordinates between the middle of a cell and its corners.
    const double half = 0.501 / scale_, da = (std::abs(s.ax) + std::abs(s.ay)) * half;
    const double db = (std::abs(s.bx) + std::abs(s.by)) * half;
    const double dc = (std::abs(s.ax + s.bx) + std::abs(s.ay + s.by)) * half;
    for (int64_t i = across.first; i <= across.last; ++i) {
      const bool inner = 0 < i && i < nx - 1;
      const double x = low_.x + (i + 0.5) / scale_ - s.x;
      for (int64_t j = along.first; j <= along.last; ++j) {
        const double y = low_.y + (j + 0.5) / scale_ - s.y;
        const double a = x * s.ax + y * s.ay, b = x * s.bx + y * s.by;
        const bool apart = a < -da || b < -db || a + b > 1.0 + dc;
        if (!(apart && inner && 0 < j && j < ny - 1)) visit(i * ny + j, static_cast<int64_t>(t));
      }
    }
  }
}

void TriangleBins::reduce_gaps(const Columns& points) const {
  if (shapes_.empty()) return;
  for (size_t k = 0; k < points.count; ++k) {
    const double here = points.z[k] - surface_below(points.x[k], points.y[k], points.z[k]);
    points.gap[k] = here < points.gap[k] ? here : points.gap[k];
  }
}

// Consider a ray that comes from above through the point. It enters the solid at triangles that face up and
// leaves it at triangles that face down. If the point is outside, it presses on the first surface below it. If
// it is inside, it presses on the surface above it at which the ray last entered from outside. If some
// triangles face the wrong way, the ray can cross the mesh an odd number of times above a point that seems to
// be outside. The point then presses on the last surface that the ray met from outside.
double TriangleBins::surface_below(double x, double y, double z) const {
  const int64_t* begin = &begin_[cell(x, 0) * number_[1] + cell(y, 1)];
  const Range<const int64_t> near{order_.data() + begin[0], static_cast<size_t>(begin[1] - begin[0])};
  double below = -kInfinity, above = kInfinity;
  int count = 0;
  for (const int64_t t : near) {
    const double here = shapes_[t].height(x, y);
    if (here >= z) {
      above = here, ++count;
    } else if (here > below) {
      below = here;
    }
  }
  if (count == 0) return below;
  if (count == 1) return above;

  int inside = 0;
  bool odd = false;
  double surface = kInfinity, top = kInfinity;
  while (true) {
    const Crossing next = highest(near, x, y, top - kSame);
    top = next.height;
    if (top < z || top == -kInfinity) return inside > 0 || odd ? surface : top;
    if (next.up != 0.0) {
      odd = !odd;
      surface = inside == 0 ? top : surface;
      inside = std::max(inside + (next.up > 0.0 ? 1 : -1), 0);
    }
  }
}

// Return the highest crossing with a vertical line at or below `top`.
TriangleBins::Crossing TriangleBins::highest(Range<const int64_t> near, double x, double y, double top) const {
  Crossing best{-kInfinity, 0.0};
  for (const int64_t t : near) {
    const double here = shapes_[t].height(x, y);
    if (best.height - kSame <= here && here <= top) {
      best.up = here > best.height + kSame ? shapes_[t].facing : best.up + shapes_[t].facing;
      best.height = std::max(best.height, here);
    }
  }
  return best;
}

}  // namespace tactile

#include "tactile/uv.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tactile {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEdge = 1e-9;  // a pixel whose center is this close to an edge belongs to the triangle [pixels]
constexpr double kFlat = 1e-6;  // triangles thinner than this contain no pixels [pixels]
// Triangles overlap if a pixel's center is at least this deep inside both, which is more than the rounding errors
// of float32 [pixels].
constexpr double kOverlap = 1e-3;

// Call visit(from, to) for each edge of a triangle.
template <class Visit>
void edges(const Triangle2& t, Visit visit) {
  visit(t[2], t[0]), visit(t[0], t[1]), visit(t[1], t[2]);
}

// Twice the signed area, positive if the corners turn from x to y.
double doubled_area(const Triangle2& t) {
  return (t[1].x - t[0].x) * (t[2].y - t[0].y) - (t[1].y - t[0].y) * (t[2].x - t[0].x);
}

// Smallest height of a triangle, 0 if all corners coincide.
double thickness(const Triangle2& t) {
  double longest = 0.0;
  edges(t, [&](const Vec2& p, const Vec2& q) { longest = std::max(longest, std::hypot(q.x - p.x, q.y - p.y)); });
  return longest > 0.0 ? std::abs(doubled_area(t)) / longest : 0.0;
}

// Distance from a point to the nearest edge, negative outside.
double depth(const Triangle2& t, double x, double y) {
  const double side = doubled_area(t) > 0.0 ? 1.0 : -1.0;
  double least = kInfinity;
  edges(t, [&](const Vec2& p, const Vec2& q) {
    const double dx = q.x - p.x, dy = q.y - p.y;
    least = std::min(least, side * (dx * (y - p.y) - dy * (x - p.x)) / std::hypot(dx, dy));
  });
  return least;
}

int64_t clip(double x, int64_t size) {
  return static_cast<int64_t>(std::min(std::max(std::floor(x), 0.0), static_cast<double>(size)));
}

// Range [begin, end) of columns whose centers may be inside a triangle in the row at height y, with a margin of
// one column on each side.
std::array<int64_t, 2> span(const Triangle2& t, double y, int64_t width) {
  double left = kInfinity, right = -kInfinity;
  edges(t, [&](const Vec2& p, const Vec2& q) {
    if (y < std::min(p.y, q.y) - kEdge || y > std::max(p.y, q.y) + kEdge) return;
    double low = std::min(p.x, q.x), high = std::max(p.x, q.x);
    if (p.y != q.y) low = high = p.x + (q.x - p.x) * std::min(std::max((y - p.y) / (q.y - p.y), 0.0), 1.0);
    left = std::min(left, low), right = std::max(right, high);
  });
  if (left > right) return {0, 0};
  return {clip(left - 1.5, width), clip(right + 2.5, width)};
}

std::array<Vec2, 2> bounds(const Triangle2& t) {
  return {{{std::min({t[0].x, t[1].x, t[2].x}), std::min({t[0].y, t[1].y, t[2].y})},
           {std::max({t[0].x, t[1].x, t[2].x}), std::max({t[0].y, t[1].y, t[2].y})}}};
}

// Whether an edge of one triangle separates it from another; overlaps up to `slack` are ignored.
bool apart(const Triangle2& one, const Triangle2& other, double slack) {
  const bool turn = doubled_area(one) > 0.0;
  bool found = false;
  edges(one, [&](const Vec2& p, const Vec2& q) {
    const double dx = q.x - p.x, dy = q.y - p.y;
    double nearest = -kInfinity;
    for (const Vec2& c : other) {
      const double inside = dx * (c.y - p.y) - dy * (c.x - p.x);
      nearest = std::max(nearest, turn ? inside : -inside);
    }
    found |= nearest <= slack * std::hypot(dx, dy);
  });
  return found;
}

}  // namespace

Overlap rasterize(const Triangle2* triangles, int64_t count, const bool* wanted, int64_t height, int64_t width,
                  int32_t* owner) {
  std::fill_n(owner, height * width, -1);
  for (int64_t t = 0; t < count; ++t) {
    const Triangle2& triangle = triangles[t];
    if (thickness(triangle) < kFlat) continue;
    const auto [low, high] = bounds(triangle);
    const int64_t last = clip(high.y + 0.5 + kEdge, height);
    for (int64_t row = clip(std::ceil(low.y - 0.5 - kEdge), height); row < last; ++row) {
      const auto [begin, end] = span(triangle, row + 0.5, width);
      for (int64_t column = begin; column < end; ++column) {
        const int64_t pixel = row * width + column;
        if (!wanted[pixel]) continue;
        const double inside = depth(triangle, column + 0.5, row + 0.5);
        if (inside < -kEdge) continue;
        const int32_t before = owner[pixel];
        if (before < 0) {
          owner[pixel] = static_cast<int32_t>(t);
        } else if (inside > kOverlap && depth(triangles[before], column + 0.5, row + 0.5) > kOverlap) {
          return {row, column, before, t};
        }
      }
    }
  }
  return {};
}

std::vector<bool> covering_triangles(const Triangle2* triangles, const int64_t* chart, int64_t count, double slack) {
  std::vector<bool> out(count);
  std::vector<std::array<Vec2, 2>> extents(count);
  for (int64_t i = 0; i < count; ++i) extents[i] = bounds(triangles[i]);
  for (int64_t i = 0; i < count; ++i) {
    if (out[i]) continue;
    const auto& [low, high] = extents[i];
    for (int64_t j = i + 1; j < count && chart[j] == chart[i] && extents[j][0].x < high.x - slack; ++j) {
      if (out[j] || extents[j][0].y >= high.y - slack || extents[j][1].y <= low.y + slack) continue;
      out[j] = !apart(triangles[i], triangles[j], slack) && !apart(triangles[j], triangles[i], slack);
    }
  }
  return out;
}

}  // namespace tactile

// Triangles on a UV map.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tactile {

struct Vec2 {
  double x, y;
};
using Triangle2 = std::array<Vec2, 3>;

// Two triangles that both contain the center of a pixel; all members are -1 if there are none.
struct Overlap {
  int64_t row = -1, column = -1, one = -1, other = -1;
};

// Write to `owner` (height x width, -1 where none) the triangle that contains the center of each wanted pixel.
// Corners are in pixels, x right and y down from the upper left, in either winding. A center on a shared edge
// belongs to the triangle with the lowest index. Returns the first overlap, at which the search stops.
Overlap rasterize(const Triangle2* triangles, int64_t count, const bool* wanted, int64_t height, int64_t width,
                  int32_t* owner);

// Return which triangles overlap an earlier triangle of the same chart by more than `slack`, among those that are
// not marked themselves. The triangles are sorted by chart and then by smallest x.
std::vector<bool> covering_triangles(const Triangle2* triangles, const int64_t* chart, int64_t count, double slack);

}  // namespace tactile

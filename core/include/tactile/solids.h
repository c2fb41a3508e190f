// The geoms of a scene as solids, and the gaps between points and solids along the z axis.
#pragma once

#include <mujoco/mjmodel.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tactile/geometry.h"
#include "tactile/skin.h"

namespace tactile {

// A node of a tree of boxes, as in Python's `geometry.solids.NODE`; its children follow it.
struct BoxNode {
  Box box;
  int64_t first, last;  // range of items; empty unless the node is a leaf
  int64_t skip;         // next node outside the subtree
};
static_assert(sizeof(BoxNode) == 9 * sizeof(double));

// A geom, as in Python's `geometry.solids.SOLID`. All geoms that consist of triangles are meshes.
struct Solid {
  int64_t kind;  // mjtGeom
  Vec3 size;     // as in mjModel.geom_size
  Box box;       // bounding box
  int64_t first_node, last_node;

  bool is_round() const { return kind != mjGEOM_BOX && kind != mjGEOM_CYLINDER && kind != mjGEOM_MESH; }
};
static_assert(sizeof(Solid) == 12 * sizeof(double));

// The geoms of a scene, and the triangles of meshes and height fields with trees over them.
struct Solids {
  std::vector<Solid> table;
  std::vector<std::array<Vec3, 3>> triangles;
  std::vector<BoxNode> nodes;
};

// A solid in another frame.
struct Placed {
  int64_t solid;  // index
  Mat3 rotation;  // from the solid to the frame
  Vec3 position;
};

// Points with their gaps, each coordinate in an array of its own. Loops over `Lanes` read and write beyond the end.
struct Columns {
  const double *x, *y, *z;
  double* gap;  // to the nearest surface below the point, negative inside a solid [m]
  size_t count;
};

// Reduce gaps to those from a solid other than a mesh, where they are smaller. A line along z that misses the
// solid, or that leaves it below the point, has an infinite gap.
void reduce_gaps(const Solid& solid, const Placed& placed, const Columns& points);

// The triangles of meshes near some points, in a grid along x and y. Memory is kept for the next meshes.
class TriangleBins {
 public:
  // Sort the triangles of placed meshes that are less than `reach` beside or below the points.
  void fill(const Solids& solids, Range<const Placed> placed, const Columns& points, double reach);
  void clear() { shapes_.clear(); }
  void reduce_gaps(const Columns& points) const;

 private:
  // A triangle projected along z. The barycentric coordinates of the second and third corner are a and b.
  struct Shape {
    double x, y;              // of the first corner
    double ax, ay, bx, by;    // derivatives of a and b
    double z, up_a, up_b;     // height of the first corner, and how much higher the others are
    double facing;            // 1 up, -1 down

    double height(double px, double py) const;  // NaN if the vertical line misses the triangle
  };
  struct Crossing {
    double height, up;  // -infinity without one; triangles at this height that face up minus down
  };
  struct Span {
    int64_t first, last;
  };

  // The height of the surface on which a point presses, or -infinity.
  double surface_below(double x, double y, double z) const;
  Crossing highest(Range<const int64_t> near, double x, double y, double top) const;
  int64_t cell(double value, int axis) const;
  Span cells(const std::array<Vec3, 3>& corners, int axis) const;
  template <class Visit>
  void for_each_cell(Visit visit) const;

  std::vector<std::array<Vec3, 3>> corners_;
  std::vector<Shape> shapes_;
  std::vector<int64_t> begin_, order_;  // start of each cell's triangles in `order_`
  Vec3 low_;                            // corner of the grid
  double scale_ = 1.0;                  // cells per meter
  int64_t number_[2] = {1, 1};          // of cells along x and y
};

}  // namespace tactile

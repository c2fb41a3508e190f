// Intersections of rays with the geoms of a model.
//
// Rays start at a point [m] and have a unit direction, in the frame of the shape; distances are in [m].
#pragma once

#include <mujoco/mjmodel.h>

#include <vector>

#include "tactile/geometry.h"

namespace tactile {

struct Ray {
  Vec3 start, direction;
};

// Distances along a line at which it enters and leaves a solid; enter > leave if the line misses the solid.
struct Interval {
  double enter = kInfinity, leave = -kInfinity;
};

Interval intersect_box(const Ray& ray, const Vec3& half);

// Intersect a line with a plane (the half space z < 0), sphere, capsule, ellipsoid, cylinder or box.
// `size` is as in mjModel.geom_size.
Interval intersect(int type, const Ray& ray, const Vec3& size);

// The triangles of a mesh. A closed mesh is solid, an open one is a sheet.
class Mesh {
 public:
  Mesh(const mjModel& model, int mesh);

  const Box& bounds() const { return tree_.nodes.front().box; }
  double radius() const { return radius_; }  // of the bounding sphere around the origin [m]
  bool closed() const { return closed_; }

  // Distance to the first point inside the mesh: 0 if the ray starts inside, infinite without a hit in reach.
  double hit(const Ray& ray, double reach) const;

  struct Crossing {
    double distance;  // of the nearest crossing, infinite without one within reach
    int turns;        // triangles crossed from the front minus from the back, up to a common sign
  };
  // For a ray that ends outside a closed mesh, `turns` is not 0 if the ray starts inside. It is meaningful
  // only if `count` is true; otherwise the search ends at the nearest crossing.
  Crossing cross(const Ray& ray, double reach, bool count) const;

 private:
  bool contains(const Vec3& point) const;

  Tree tree_;
  std::vector<std::array<Vec3, 3>> triangles_;  // in the order of the tree
  double radius_ = 0.0;
  bool closed_ = false;
};

// A height field, which is solid from its base up to the triangles that MuJoCo collides.
struct HeightField {
  double size[4];  // as in mjModel.hfield_size
  int rows, columns, address;

  HeightField(const mjModel& model, int field);
  double hit(const Ray& ray, const float* heights, double reach) const;
};

}  // namespace tactile

// Placement of taxels and feelers on surfaces. Arrays are row-major; positions are in [m].
#pragma once

#include <cstdint>
#include <vector>

#include "tactile/geometry.h"

namespace tactile {

// Points sorted into the cells of a regular grid, so that nearby points can be found quickly.
struct Grid {
  Vec3 corner;
  double cell;               // edge length of the cells [m]
  int64_t shape[3];          // number of cells along each axis
  std::vector<int64_t> first;  // start of each cell in `order`; the last entry is the number of points
  std::vector<int64_t> order;  // indices of the points, cell by cell

  // The cells are at least `smallest` wide, and so wide that there are at most about 2 n + 64 cells.
  Grid(const Vec3* points, int64_t count, double smallest);

  int64_t index(const Vec3& point, int axis) const {
    return static_cast<int64_t>((point[axis] - corner[axis]) / cell);
  }
};

// A convex polytope: planes with outward unit normals; points x with normal . x <= offset are inside.
struct Polytope {
  const Vec3* normals;
  const double* offsets;
  int64_t count;

  // Depth of a point below the nearest plane; negative outside.
  double depth(const Vec3& point) const;
  // Sum of the normals of the planes at most `blur` farther away from the point than the nearest one.
  // `depths` is scratch memory.
  Vec3 normal(const Vec3& point, double blur, std::vector<double>& depths) const;
  // Project a point near the surface onto it, given a point inside.
  Vec3 onto(Vec3 point, const Vec3& middle) const;
};

// Project points near a polytope around the origin onto it, and write its outward unit normals there. The planes
// that share an edge with plane h are beside[first[h]:first[h + 1]]. `at` is the plane of each point found in the
// previous call, and is updated.
void project_to_polytope(const Polytope& hull, const int64_t* first, const int64_t* beside, const Vec3* points,
                         int64_t count, int64_t* at, Vec3* places, Vec3* outward);

// Repulsion of each point by the points within reach on the same side of the body.
std::vector<Vec3> push_apart(const Vec3* points, const Vec3* normals, int64_t count, double reach);

// Indices, in ascending order, of the candidates that keep a distance to all those selected before them, in the
// given order. Points whose normals are more than 120 degrees apart may be closer.
std::vector<int64_t> keep_apart(const Vec3* points, const Vec3* normals, const int64_t* order, int64_t count,
                                double distance);

// Triangles of the band between two rings of points, wound outward if the azimuth increases to the right when
// ring b is seen above ring a. A ring is its first point, the number of its points, and the azimuth of the first
// one [turns]; it may be a single point.
struct Ring {
  int64_t first, count;
  double phase;
};
std::vector<int64_t> zip_rings(const Ring& a, const Ring& b);

// Flip edges of a closed mesh until it is Delaunay (Lawson's algorithm), in place. across[3 t + k] is the triangle
// across the edge opposite to corner k of triangle t, and `facing` is the normal of the surface at each triangle.
// Only edges between triangles with the same label and with a dot product of `facing` above `alike` are flipped;
// the two triangles then get the mean of their normals.
void flip_to_delaunay(int64_t* triangles, int64_t* across, int64_t count, const Vec3* positions, Vec3* facing,
                      const int64_t* label, double alike);

// A closed triangle mesh, wound outward, whose vertices can be removed one by one while it stays closed.
//
// A vertex is removed by moving it onto a neighbor, so the two triangles at the edge between them vanish. The
// link condition (Dey et al. 1999: the only common neighbors of the two vertices are the corners opposite to
// their edge) preserves the topology: no holes, and no edge with more than two triangles.
class ThinnedMesh {
 public:
  // Role of a vertex: a taxel, a vertex of a seam between geoms, one on the surface that can be removed, or one
  // off the surface.
  enum Role { kTaxel, kSeam, kSpare, kLost };

  const Vec3* positions;
  const int64_t* role;   // of each vertex
  int64_t* triangles;    // vertex indices
  int64_t* across;       // as in flip_to_delaunay
  const int64_t* label;  // geom of each triangle
  const Vec3* facing;    // unit normal of the geom at each triangle
  bool* alive;           // whether each triangle still exists
  int64_t* at;           // a triangle at each vertex, -1 for removed vertices
  int64_t triangle_count, vertex_count;
  double longest;        // maximum length of new edges, exceeded only if the quality is ignored [m]

  // Remove vertices that are not taxels, and vertices too close to another vertex at a seam.
  void thin(const Vec3* normals, double spacing);
  // Remove vertices whose role is at least `least`, unless a triangle would get worse than `worst`.
  void drop(int64_t least, double worst);

 private:
  template <class Visit>
  void around(int64_t u, Visit visit) const;
  int corner(int64_t t, int64_t u) const;
  double distance(int64_t u, int64_t v) const;
  int seam_edges(int64_t u) const;
  bool joined(int64_t u, int64_t v) const;
  double quality(int64_t a, int64_t b, int64_t c, const Vec3& normal) const;
  double quality_after(int64_t u, int64_t v) const;
  int64_t best_neighbor(int64_t u, double worst) const;
  bool alike(int64_t q, int64_t geom, const Vec3& normal) const;
  void replace(int64_t t, int64_t old, int64_t by);
  void collapse(int64_t u, int64_t v);
  void thin_seams(double worst, double least);
  void clear_seams(double worst, const Vec3* normals, double least);
};

}  // namespace tactile

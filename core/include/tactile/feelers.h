// Feelers: thin rays along the normals of a surface, which measure the distance to the first obstacle.
#pragma once

#include <mujoco/mjmodel.h>

#include <map>
#include <vector>

#include "tactile/geometry.h"
#include "tactile/rays.h"

namespace tactile {

// The feelers of one body, in its frame.
struct FeelerBody {
  int body;          // id
  bool children;     // whether descendants of the body can cover its feelers; always true for the world
  double tolerance;  // depth inside the body at which rays start, as a fraction of a feeler's length
  std::vector<Vec3> positions;  // roots [m]
  std::vector<Vec3> normals;    // outward unit vectors
  std::vector<double> lengths;  // full lengths [m]
};

// Poses of bodies and geoms in the world, as in mjData.
struct Poses {
  const double *xpos, *xmat, *geom_xpos, *geom_xmat;
};

// The feelers on one or more bodies of a model.
//
// A ray never starts deeper than half the thickness of the body, so it does not reach obstacles behind the
// body. Geoms of other bodies are obstacles if they can collide. Sizes and shapes are read once; only the
// elevations of height fields may change later.
class Feelers {
 public:
  Feelers(const mjModel& model, const std::vector<FeelerBody>& bodies);

  size_t size() const { return lengths_.size(); }
  // Write the free lengths of all feelers [m], body after body, to `out`.
  void read(const mjModel& model, const Poses& poses, double* out) const;

 private:
  struct Geom {
    int type = 0;
    Vec3 size;
    Box bounds;                          // in the geom's frame
    double radius = 0.0;                 // of the bounding sphere around the geom's origin [m]
    const Mesh* mesh = nullptr;          // of a mesh or SDF geom
    const HeightField* field = nullptr;  // of a height field
  };
  struct Feeler {
    Ray ray;        // from its start inside the body, in the body's frame
    double inside;  // depth inside the body at which the ray starts [m]
    int index;      // in the order given to the constructor
  };
  struct Group {
    int body;
    int first;  // first of its feelers in `feelers_`
    Tree tree;
    Vec3 center;  // bounding sphere of its feelers, in the body's frame [m]
    double radius;
    std::vector<int> obstacles;  // ids of geoms
  };

  Geom describe(const mjModel& model, int geom);
  double thickness(const mjModel& model, int body, const Ray& inward, double depth) const;
  void cover(const Group& group, const Geom& geom, const Pose& pose, const float* heights, double* out) const;

  std::map<int, Mesh> meshes_;
  std::map<int, HeightField> fields_;
  std::map<int, Geom> geoms_;
  std::vector<Feeler> feelers_;  // in the order of the trees
  std::vector<double> lengths_;
  std::vector<Group> groups_;
};

}  // namespace tactile

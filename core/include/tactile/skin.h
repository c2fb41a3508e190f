// Skins: taxels on bodies, the loads that contacts exert on them, and the spreading of loads over taxels.
//
// All quantities of taxels and loads are in the frames of their bodies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tactile/contacts.h"
#include "tactile/geometry.h"

namespace tactile {

// Consecutive elements in memory that belongs to someone else.
template <class T>
struct Range {
  T* first = nullptr;
  size_t count = 0;

  T* begin() const { return first; }
  T* end() const { return first + count; }
  size_t size() const { return count; }
  T& operator[](size_t k) const { return first[k]; }
};

// A load that a contact exerts on one body with skin, as in Python's `skin.loads.LOAD`.
struct Load {
  int64_t contact = 0, body = 0, patch = 0;  // body: index among those with skin
  Vec3 point;                                // on the surface of the body [m]
  Vec3 force, force_world;                   // on the body [N]
  Vec3 normal;                               // unit normal of the contact, into the body
  Vec3 velocity, angular_velocity;           // of the other surface relative to the skin, at `point`
  double radius = 0.0;                       // effective radius of curvature of both surfaces [m]
  double friction = 0.0;
  int64_t other_patch = -1;                  // patch of the other surface, or -1
  Vec3 torque;                               // about `point`, in addition to that of the force [N m]
  Mat3 rotation;                             // from the body to the world
  int64_t other = -1, other_body = -1;       // geom and body on the other side; -1 for a flex
  Vec3 other_position;                       // of the other geom [m]
  Mat3 other_rotation;                       // from the other geom to the body
};
static_assert(sizeof(Load) == 400);

// Connected taxels on one body, with the elastic layer that they are in, as in Python's `skin.patches.PATCH`.
struct Patch {
  int64_t start = 0, stop = 0;  // taxels
  double spacing = 0.0;         // largest distance between neighbors [m]
  Vec3 corner;                  // of the grid of cells over the taxels [m]
  double cell = 0.0;            // edge length of the cells [m]
  int64_t shape[3] = {};        // cells along each axis
  int64_t base = 0;             // index of the first cell in `Taxels::cell_start`
  int64_t limited = 0;          // whether the limit of any taxel is finite
  double modulus = 0.0;         // plane-strain modulus [Pa]
  double thickness = 0.0;       // of the layer [m]
  double depth = 0.0;           // of the taxels in the layer, for Law::kThick [m]
  int64_t table = 0;            // index of the layer in `Taxels::layers`
};
static_assert(sizeof(Patch) == 16 * sizeof(double));

// A taxel of a skin.
struct Taxel {
  Vec3 position;                 // on the surface [m]
  Vec3 normal;                   // outward; 0 for a taxel that faces all loads
  double area = 0.0;             // [m2]
  double spacing = 0.0;          // of its pad [m]
  double limit = kInfinity;      // largest distance of a load that it receives [m]
  int32_t begin = 0, end = 0;    // range of its neighbors in `Taxels::neighbors`

  // A taxel faces a load if the cosine between its outward normal and the load's normal is below 0.3.
  bool faces(const Vec3& load_normal) const { return dot(normal, load_normal) < 0.3; }
};

// The taxels of a skin, patch by patch.
struct Taxels {
  // A taxel in the grid of a patch, with a copy of its position.
  struct Spot {
    Vec3 position;
    int64_t taxel;
  };
  std::vector<Taxel> list;
  std::vector<int32_t> neighbors;
  std::vector<Patch> patches;
  std::vector<int64_t> cell_start;  // start of each cell's taxels in `spots`, and an end for each patch
  std::vector<Spot> spots;          // cell by cell
  std::vector<double> layers;       // tables of `skin.layer_tables` for each kind of layer, if Law::kThick is used
  bool along_surface = false;       // measure distances along the surface instead of straight

  size_t size() const { return list.size(); }
  const Taxel& operator[](int64_t taxel) const { return list[taxel]; }
  // Build the grids of all patches; fills `cell_start`, `spots` and the fields of `patches` about cells.
  void sort_into_cells();

  // The taxel that receives a load: the nearest one that faces it, or if there is none within two spacings, the
  // nearest of all.
  int64_t nearest(const Load& load) const;
  // Whether a load is ignored: its taxel is farther away than its limit, or faces away from it.
  bool is_outside(const Load& load) const;
  // The k taxels of a patch that are nearest to a point, nearest first, and their distances [m]; NaN for a point
  // that is not finite. The patch must have at least k taxels.
  void k_nearest(const Vec3& point, int64_t patch, int64_t k, int64_t* out, double* distance) const;
  // Plane-strain modulus of the contact [Pa]; the compliances of two skins add up.
  double modulus(const Load& load) const;
};

// What a taxel measures; numbered as in Python's `skin.touch_functions`.
enum class Quantity { kNormal, kNormalForce, kForceVector, kForceVectorGlobal, kFriction, kSlip };

inline int channels_of(Quantity quantity) { return quantity == Quantity::kNormal ? 1 : 3; }

// Sums of weights and of weighted values of taxels. Only touched taxels are ever nonzero, and only they are
// cleared, so the cost does not depend on the number of taxels.
class Sums {
 public:
  // Prepare for this number of taxels and channels. All sums must be cleared.
  void fit(size_t taxels, int channels);
  int channels() const { return channels_; }
  // The weight and the values of a taxel (1 + channels numbers). The caller adds a positive weight.
  double* touch(int64_t taxel) {
    double* row = rows_.data() + taxel * (1 + channels_);
    if (row[0] == 0.0) touched_.push_back(taxel);
    return row;
  }
  const std::vector<int64_t>& touched() const { return touched_; }
  const double* operator[](int64_t taxel) const { return rows_.data() + taxel * (1 + channels_); }
  void clear();

 private:
  std::vector<double> rows_;
  std::vector<int64_t> touched_;
  int channels_ = 0;
};

// Rotations and origins of all bodies in the world, as in mjData.
struct BodyPoses {
  const Vec3* positions;
  const Mat3* rotations;
};

// A geom, as in Python's `geometry.curvature.GEOM`.
struct SkinGeom {
  int64_t patch, body;  // patch that receives its loads, or -1; id of its body
  enum Kind : int64_t { kFlat, kSphere, kCapsule, kCylinder, kEllipsoid } kind;
  Vec3 size;            // as in mjModel.geom_size
  Vec3 position;        // in the body's frame
  Mat3 rotation;
  double bound;         // radius of the bounding sphere, infinite for a plane [m]
};
static_assert(sizeof(SkinGeom) == 19 * sizeof(double));

// The effective radius of curvature [m] of two touching geoms (-1: unknown, counts as flat), after K. L. Johnson,
// Contact Mechanics (1985), chapter 4. A direction without curvature gets that of the smaller bounding sphere.
double effective_radius(const std::vector<SkinGeom>& geoms, int first, int second, const Vec3 frame[3],
                        const Mat3* rotations);

// Append the up to two loads of each contact; `patch_bodies` are the indices of the patches' bodies.
void resolve_loads(Range<const Contact> contacts, const ContactIds* ids, const std::vector<SkinGeom>& geoms,
                   const std::vector<int64_t>& patch_bodies, const BodyPoses& poses, std::vector<Load>& loads);

// The surface of a flex, in its present shape in the world and in its rest shape on the body that carries it.
struct FlexSurface {
  Range<const Vec3> present, rest;             // vertices
  Range<const std::array<int64_t, 3>> corners;  // of the triangles
  const int64_t *begin, *near;                 // start of each vertex's triangles, and their indices
  Vec3 position;                               // pose of the body in the world
  Mat3 rotation;
};

// Move contacts on a flex to the same points of its rest shape. `touching` are the up to four vertices in each
// contact, or -1; `sign` is 1 if the flex is object 2 of the contacts, else -1.
void move_to_rest(Range<Contact> contacts, const std::array<int64_t, 4>* touching, double sign,
                  const FlexSurface& flex);

// Mean position and outward normal of the contacts on a body, in its frame, weighted by the normal forces.
struct TouchCenter {
  double force = 0.0;  // sum of the normal forces [N]
  Vec3 position, normal;
};
TouchCenter center_of_touch(Range<const Contact> contacts, const ContactIds* ids, int body, const BodyPoses& poses);

// Arrows for the forces of contacts and for the net forces on bodies.
struct Arrows {
  enum Kind : int64_t { kNormal, kTangent1, kTangent2, kNet, kFriction };  // kFriction: both tangents together

  double scale;                  // length per force [m/N]
  std::vector<Vec3> points;      // start and end of each arrow, in the world [m]
  std::vector<int64_t> kinds;
  std::vector<int64_t> sources;  // index of the contact, or of the net force

  // Add an arrow, unless it is too short to be seen.
  void add(const Vec3& start, const Vec3& force, Kind kind, size_t source);
  // Add those of contacts, for the forces on object 2.
  void add_contacts(Range<const Contact> contacts, bool tangents);
  // Shorten all arrows by the same factor, so that none is longer than this [m].
  void limit(double length);
};

// How a load is distributed over taxels; numbered as in Python's `skin.responses`.
enum class Law { kDistances, kNearest, kLinear, kHertz, kElastic, kThick };

// Whether a law spreads the loads between two surfaces together, over the area where they touch.
inline bool is_elastic(Law law) { return law == Law::kElastic || law == Law::kThick; }

// Finds the taxels around loads; the memory of one thread.
class Search {
 public:
  // Append the taxels around a load and their weights, which need not be normalized. The first taxel receives
  // the load. With kDistances, the weights are the distances [m], and `reach` is their maximum.
  void spread(const Taxels& taxels, const Load& load, Law law, double reach, std::vector<int64_t>& taxel,
              std::vector<double>& weight);

 private:
  struct Entry {
    double distance;
    int64_t taxel;
  };
  void walk(const Taxels& taxels, const Load& load, double reach, double spacings, std::vector<int64_t>& queue);
  void walk_along(const Taxels& taxels, const Load& load, int64_t start, double reach,
                  std::vector<int64_t>& queue);
  void push(double distance, int64_t taxel);
  Entry pop();

  std::vector<double> distance_;  // of each taxel from the load; infinite between calls
  std::vector<Vec3> vector_;      // from the load to each taxel, in its tangent plane
  std::vector<Entry> heap_;
};

// Values of a quantity for one load.
void evaluate(const Load& load, Quantity quantity, double* out);

// The velocity of the other surface relative to the skin at a point of the body.
inline Vec3 velocity_at(const Load& load, const Vec3& point) {
  return load.velocity + cross(load.angular_velocity, point - load.point);
}

// Distribute a load over taxels, in proportion to their weights. If none is positive or the sum is not finite,
// the first taxel receives the load. `value(e)` are the values for entry e. With `mean`, shares are multiplied by
// the normal force, and values that are NaN are left out.
template <class Value>
void share(const Load& load, Range<const int64_t> taxel, const double* weight, bool mean, Value value, Sums& sums) {
  const double counts = mean ? dot(load.force, load.normal) : 1.0;
  if (mean && !(counts > 0.0)) return;
  double total = 0.0;
  for (size_t e = 0; e < taxel.size(); ++e) {
    if (!(weight[e] < 0.0)) total += weight[e];
  }
  const bool shared = 0.0 < total && total < kInfinity;
  const int channels = sums.channels();
  for (size_t e = 0; e < (shared ? taxel.size() : 1); ++e) {
    const double part = shared ? counts * weight[e] / total : counts;
    if (!(part > 0.0)) continue;
    const double* values = value(e);
    bool known = true;
    for (int c = 0; mean && c < channels; ++c) known = known && !std::isnan(values[c]);
    if (!known) continue;
    double* row = sums.touch(taxel[e]);
    row[0] += part;
    for (int c = 0; c < channels; ++c) row[1 + c] += part * values[c];
  }
}

}  // namespace tactile

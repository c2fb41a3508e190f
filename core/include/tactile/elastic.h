// The response function `elastic_foundation`, which spreads loads over the area where two surfaces touch.
//
// The physics engine reports the wrench between two bodies at a few points. The actual contact area is computed
// from geometry. For each pair of a patch of skin and another body, the gap between the two is measured along
// the mean contact normal. Then the pressures in an elastic layer that balance the wrench are computed, see
// layer.h. A reading acts at the position of its taxel, so the forces on taxels are adjusted until they have the
// engine's moment there. The tangential force is distributed in proportion to the pressure (Coulomb), and the
// torsional moment in proportion to pressure times distance from the center, so that forces and moments sum to
// those that the engine reports.
#pragma once

#include <vector>

#include "tactile/geometry.h"
#include "tactile/lanes.h"
#include "tactile/layer.h"
#include "tactile/skin.h"
#include "tactile/solids.h"
#include "tactile/thick_layer.h"

namespace tactile {

// A taxel as in Python's `skin.quadrature.TAXEL`.
struct ElasticTaxel {
  Vec3 position, normal;  // the outward normal is 0 for a taxel that faces all loads
  double area;
  double margin;  // distance to the farthest neighbor [m], infinite if one is not in the taxel's plane; or kEdge
  int32_t id;     // index in the skin
  int32_t begin;  // its first quadrature point
};
static_assert(sizeof(ElasticTaxel) == 9 * sizeof(double));

// The arrays of Python's `Quadrature` and `Solids`.
struct ElasticArrays {
  Range<const ElasticTaxel> taxels;  // n + 1; the last one only marks the end of the points
  Range<const int64_t> place;        // index in `taxels` of each taxel of the skin
  Range<const double> points;        // (q, 7) positions, outward normals and areas of the quadrature points
  Range<const int32_t> beside;       // (n, w) neighbors, as indices into `taxels`
  Range<const BoxNode> nodes;        // trees over the taxels of each patch, patch by patch
  Range<const double> node_normals;  // (nodes, 6) centers and half sizes of boxes around the normals
  Range<const int64_t> roots;        // (p + 1) first node of each patch
  Range<const Solid> solids;
  Range<const double> corners;  // (f, 9) of the triangles
  Range<const BoxNode> mesh_nodes;
};

// The combined contacts of a patch with one other body, in the frame of the body with the patch.
struct Pair {
  size_t first = 0;       // its first load
  Vec3 origin;            // mean of the contact points, weighted by normal force [m]
  Mat3 axes;              // two tangents and the mean normal into the body: the axes of the pair's frame
  Vec3 force, moment;     // net force, and moment about `origin`, along `axes` [N, N m]
  Vec3 velocity, turn;    // of the other surface relative to the patch at `origin`, along `axes` [m/s, rad/s]
  double friction = 0.0;  // coefficient of sliding friction: mean of the contacts, weighted by normal force
};

// Memory for intermediate results, one for each thread. It grows on first use and is then reused.
struct ElasticScratch {
  // Taxels near the other body, in the frame of the pair.
  struct Near {
    std::vector<double> x, y, z, gap;        // gap to the other body below [m]
    std::vector<double> cosine;              // between the taxel's inward normal and that of the pair
    std::vector<double> area, margin;        // as in ElasticTaxel
    std::vector<double> low;                 // smallest gap of those neighbors that may be pressed [m]
    std::vector<int32_t> taxel;
  } near;
  std::vector<int32_t> at;       // index in `near` of each taxel, or -1; reset after use
  std::vector<int32_t> loaded;   // index among the pressed taxels of each in `near`, or -1
  std::vector<double> moved;     // normal force on each pressed taxel after a shift [N]
  std::vector<int32_t> several;  // indices in `near` of taxels that may need several points
  std::vector<Placed> placed;    // touching geoms of the other body, in the frame of the pair
  std::vector<size_t> source;    // one load from each of these geoms
  TriangleBins triangles;
  Layer layer;
  ThickLayer thick;
};

// The taxels of a skin with their quadrature points, and the geoms of the scene. Constant after construction.
class Elastic {
 public:
  // Throws std::invalid_argument if the arrays do not fit each other.
  explicit Elastic(const ElasticArrays& arrays);

  size_t taxels() const { return place_.size(); }
  size_t patches() const { return roots_.size(); }
  size_t solids() const { return solids_.table.size(); }

  // Number the pairs of surfaces. group[m] is the pair of each load, or -1 for loads that cannot be spread over
  // an area, because they pull or touch a flex. Returns the number of pairs.
  static int64_t group_loads(Range<const Load> loads, int64_t* group);
  // Combine the loads of one pair.
  static Pair net_load(Range<const Load> loads, const int64_t* group, int64_t number);

  // Add the readings due to loads to `sums`. Writes the pairs to `group` as group_loads does, but -1 also for
  // loads without a taxel in reach. Returns the number of loads with -1. The law is kElastic or kThick.
  size_t add_readings(const Taxels& taxels, ElasticScratch& scratch, Law law, Range<const Load> loads, int64_t* group,
                      Quantity quantity, Sums& sums) const;
  // Append the load on each pressed taxel at its position, for each pair; otherwise as add_readings.
  size_t loads_on_taxels(const Taxels& taxels, ElasticScratch& scratch, Law law, Range<const Load> loads,
                         int64_t* group, std::vector<Load>& out, std::vector<int64_t>& taxel) const;

 private:
  friend class ContactArea;

  // Up to four nodes with the same parent.
  struct Siblings {
    double x[kLanes], y[kLanes], z[kLanes];                 // centers of boxes around the taxels [m]
    double half_x[kLanes], half_y[kLanes], half_z[kLanes];  // half sizes [m]
    double normal_x[kLanes], normal_y[kLanes], normal_z[kLanes];  // centers of boxes around the outward normals
    double spread_x[kLanes], spread_y[kLanes], spread_z[kLanes];  // half sizes
    int32_t children[kLanes];             // index of their `Siblings`, or -1 for a leaf
    int32_t first[kLanes], last[kLanes];  // taxels of a leaf
    int32_t count;
  };
  int32_t add_siblings(const ElasticArrays& arrays, int64_t first, int64_t last);

  template <class Visit>
  size_t for_each_pair(const Taxels& taxels, ElasticScratch& scratch, Law law, Range<const Load> loads, int64_t* group,
                       Visit visit) const;

  std::vector<ElasticTaxel> taxels_;
  struct {
    std::vector<double> x, y, z, normal_x, normal_y, normal_z, area, margin;
  } columns_;  // of the taxels
  std::vector<int32_t> ids_, place_, beside_;
  size_t width_ = 0;  // neighbors of each taxel in `beside_`
  struct {
    std::vector<double> x, y, z, normal_x, normal_y, normal_z, area;
  } points_;  // quadrature points, taxel by taxel
  std::vector<Siblings> siblings_;
  std::vector<int32_t> roots_;
  Solids solids_;
};

}  // namespace tactile

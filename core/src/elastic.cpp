#include "tactile/elastic.h"

#include <algorithm>
#include <stdexcept>

namespace tactile {

namespace {

// Contacts with the same body are in separate pairs if the cosine between their normals is below this.
constexpr double kApart = 0.7;
// Minimum cosine between a point's outward normal and the direction to the other surface.
constexpr double kFacing = 0.2;
// Gap of a taxel if the line from the taxel along the pair's normal misses the other body [m].
constexpr double kMissed = 1e300;
// Depths up to which points may be pressed, as multiples of the depth estimated without a tilt. The second one is only
// used if the moment cannot be balanced within the first one, or only by a tilt that also presses deeper points.
constexpr double kDepths[] = {3.0, 1e30};
// The required center of pressure is out of reach if it is missed by more than this fraction of the spacing.
constexpr double kOutOfReach = 1e-3;
// Maximum number of iterations of the depth estimate. Each iteration leaves out the taxels that are not pressed at
// the previously estimated depth.
constexpr int kMostCuts = 20;
// A face is level if the cosine between its normal and the pair's normal is above this.
constexpr double kUpright = 0.999;
// The gap is uneven where the gaps of neighboring taxels differ by more than this, relative to their spacing.
constexpr double kUneven = 0.25;
// Single points are used only if more taxels than this may be pressed: in smaller contacts, readings would change
// noticeably where a taxel gets several points.
constexpr size_t kMany = 60;
// Maximum slope of the gap between two neighboring taxels in one plane under a level face: it must be at least
// sin(2 acos(kUpright)) + quadrature.FLAT.
constexpr double kLevelSlope = 0.12;
// Tolerance of the center of pressure, relative to the spacing.
constexpr double kClose = 1e-9;
// Maximum number of adjustments of the forces on taxels. On curved skins, a twist changes the other moments and depends
// on the adjusted forces; an adjustment reduces this error to a tenth in most cases, and to 0.8 in the worst ones.
constexpr int kMostRounds = 60;
// The forces on a small contact are moved to neighboring taxels by at most this distance [spacings].
constexpr double kFarthest = 0.75;
// Weight of taxels without a force when forces are adjusted, relative to the net force: if the loaded taxels can have
// the moment, the others receive next to nothing.
constexpr double kUnloaded = 1e-6;
// Torsional moments below this fraction of the normal force times the spacing are ignored.
constexpr double kSmall = 1e-8;
// A single taxel has no torsional moment, and readings are continuous while a load leaves its last but one taxel: the
// twist fades where the mean square of the distance from the center of pressure is below this [spacings2].
constexpr double kLeastInertia = 0.005;
constexpr size_t kPointWidth = 7;  // columns of ElasticArrays::points

double cosine_to(const Vec3& outward, const Vec3& normal) { return -dot(outward, normal); }

Vec3 unit(const Vec3& v) { return 1.0 / norm(v) * v; }

// The pressure per indentation for the contact that causes a load [Pa/m]. The layers of two skins are in series:
// the pressure is the same in both, and their indentations add up.
double foundation_of(const Load& load, const Taxels& taxels) {
  const Patch& own = taxels.patches[load.patch];
  const double foundation = own.modulus / own.thickness;
  if (load.other_patch < 0) return foundation;
  const Patch& other = taxels.patches[load.other_patch];
  return 1.0 / (1.0 / foundation + other.thickness / other.modulus);
}

// The maximum distance of a pressed taxel from the other surface [m]: the thickness of the layer (between two
// skins, of the thicker one) plus the spacing of the taxels.
double reach_of(const Load& load, const Taxels& taxels) {
  const Patch& own = taxels.patches[load.patch];
  double thickness = own.thickness;
  if (load.other_patch >= 0) thickness = std::max(thickness, taxels.patches[load.other_patch].thickness);
  return thickness + own.spacing;
}

}  // namespace

// -- tables ---------------------------------------------------------------------------------------------------

namespace {

template <class T>
bool within(Range<const T> numbers, int64_t size) {
  return std::all_of(numbers.begin(), numbers.end(), [&](int64_t number) { return 0 <= number && number < size; });
}

// Whether the items and the subtrees of all nodes exist.
bool is_tree(Range<const BoxNode> nodes, int64_t items) {
  int64_t next = 0;
  return std::all_of(nodes.begin(), nodes.end(), [&](const BoxNode& node) {
    return 0 <= node.first && node.first <= node.last && node.last <= items && ++next <= node.skip &&
           node.skip <= static_cast<int64_t>(nodes.size());
  });
}

bool fit(const ElasticArrays& own) {
  const auto taxels = static_cast<int64_t>(own.place.size()), points = static_cast<int64_t>(own.points.size()) / 7,
             nodes = static_cast<int64_t>(own.nodes.size()), meshes = static_cast<int64_t>(own.mesh_nodes.size());
  bool fits = own.taxels.size() == own.place.size() + 1 && own.points.size() % 7 == 0 && own.corners.size() % 9 == 0 &&
              within(own.place, taxels) && within(own.beside, taxels) && within(own.roots, nodes + 1) &&
              (taxels ? own.beside.size() % taxels == 0 : own.beside.size() == 0) &&
              std::is_sorted(own.roots.begin(), own.roots.end()) && own.node_normals.size() == 6 * own.nodes.size() &&
              is_tree(own.nodes, taxels) && is_tree(own.mesh_nodes, own.corners.size() / 9);
  for (int64_t t = 0; fits && t < taxels; ++t) {
    const ElasticTaxel& taxel = own.taxels[t];
    fits = 0 <= taxel.id && taxel.id < taxels && 0 <= taxel.begin && taxel.begin <= own.taxels[t + 1].begin &&
           own.taxels[t + 1].begin <= points;
  }
  for (const Solid& solid : own.solids) {
    fits = fits && 0 <= solid.first_node && solid.first_node <= solid.last_node && solid.last_node <= meshes;
  }
  return fits;
}

}  // namespace

Elastic::Elastic(const ElasticArrays& arrays)
    : taxels_(arrays.taxels.begin(), arrays.taxels.end()),
      place_(arrays.place.begin(), arrays.place.end()),
      beside_(arrays.beside.begin(), arrays.beside.end()),
      width_(arrays.place.size() ? arrays.beside.size() / arrays.place.size() : 0) {
  if (!fit(arrays)) throw std::invalid_argument("the arrays of the elastic layer do not fit each other");
  for (const ElasticTaxel& t : taxels_) {
    columns_.x.push_back(t.position.x), columns_.y.push_back(t.position.y), columns_.z.push_back(t.position.z);
    columns_.normal_x.push_back(t.normal.x), columns_.normal_y.push_back(t.normal.y);
    columns_.normal_z.push_back(t.normal.z), ids_.push_back(t.id);
    columns_.area.push_back(t.area), columns_.margin.push_back(t.margin);
  }
  const double* point = arrays.points.begin();
  for (; point != arrays.points.end(); point += kPointWidth) {
    points_.x.push_back(point[0]), points_.y.push_back(point[1]), points_.z.push_back(point[2]);
    points_.normal_x.push_back(point[3]), points_.normal_y.push_back(point[4]);
    points_.normal_z.push_back(point[5]), points_.area.push_back(point[6]);
  }
  // Loops over `Lanes` read beyond the end.
  for (auto* values : {&columns_.x, &columns_.y, &columns_.z, &columns_.normal_x, &columns_.normal_y,
                       &columns_.normal_z, &columns_.area, &columns_.margin, &points_.x, &points_.y, &points_.z,
                       &points_.normal_x, &points_.normal_y, &points_.normal_z, &points_.area}) {
    values->resize(values->size() + kLanes);
  }
  for (size_t p = 0; p + 1 < arrays.roots.size(); ++p) {
    roots_.push_back(add_siblings(arrays, arrays.roots[p], arrays.roots[p + 1]));
  }
  solids_.table.assign(arrays.solids.begin(), arrays.solids.end());
  solids_.nodes.assign(arrays.mesh_nodes.begin(), arrays.mesh_nodes.end());
  for (const double* c = arrays.corners.begin(); c != arrays.corners.end(); c += 9) {
    solids_.triangles.push_back({vec3(c), vec3(c + 3), vec3(c + 6)});
  }
}

// Add the nodes in [first, last) that are siblings, and their subtrees; return their index, or -1 without nodes.
int32_t Elastic::add_siblings(const ElasticArrays& arrays, int64_t first, int64_t last) {
  if (first == last) return -1;
  const auto index = static_cast<int32_t>(siblings_.size());
  siblings_.emplace_back();
  Siblings made{};
  for (int64_t n = first; n < last; n = arrays.nodes[n].skip) {
    const BoxNode& node = arrays.nodes[n];
    const double* normal = arrays.node_normals.begin() + 6 * n;
    if (made.count == kLanes || arrays.nodes[n].skip > last) throw std::invalid_argument("nodes must form trees");
    const int k = made.count++;
    made.x[k] = node.box.center.x, made.y[k] = node.box.center.y, made.z[k] = node.box.center.z;
    made.half_x[k] = node.box.half.x, made.half_y[k] = node.box.half.y, made.half_z[k] = node.box.half.z;
    made.normal_x[k] = normal[0], made.normal_y[k] = normal[1], made.normal_z[k] = normal[2];
    made.spread_x[k] = normal[3], made.spread_y[k] = normal[4], made.spread_z[k] = normal[5];
    made.first[k] = static_cast<int32_t>(node.first), made.last[k] = static_cast<int32_t>(node.last);
    made.children[k] = add_siblings(arrays, n + 1, node.skip);
  }
  siblings_[index] = made;
  return index;
}

// -- pairs of surfaces ----------------------------------------------------------------------------------------

int64_t Elastic::group_loads(Range<const Load> loads, int64_t* group) {
  int64_t count = 0;
  for (size_t m = 0; m < loads.size(); ++m) {
    const Load& load = loads[m];
    const double push = dot(load.force, load.normal);
    group[m] = -1;
    if (load.other < 0 || !(0.0 < push && push < kInfinity)) continue;
    for (size_t k = 0; k < m && group[m] < 0; ++k) {
      const bool same = loads[k].patch == load.patch && loads[k].other_body == load.other_body;
      if (group[k] >= 0 && same && dot(loads[k].normal, load.normal) > kApart) group[m] = group[k];
    }
    if (group[m] < 0) group[m] = count++;
  }
  return count;
}

Pair Elastic::net_load(Range<const Load> loads, const int64_t* group, int64_t number) {
  Pair pair;
  pair.first = loads.size();
  double total = 0.0;
  Vec3 velocity, normal;
  for (size_t m = 0; m < loads.size(); ++m) {
    if (group[m] != number) continue;
    const Load& load = loads[m];
    pair.first = std::min(pair.first, m);
    const double push = dot(load.force, load.normal);
    total += push, pair.friction += push * load.friction;
    pair.origin = pair.origin + push * load.point;
    velocity = velocity + push * load.velocity;
    normal = normal + push * load.normal;
  }
  pair.origin = 1.0 / total * pair.origin;
  pair.friction /= total;
  normal = unit(normal);
  // A tangent: the axis that is farthest from the normal, made orthogonal to it.
  const double a = std::abs(normal.x), b = std::abs(normal.y), c = std::abs(normal.z);
  const Vec3 axis = a <= b && a <= c ? Vec3{1, 0, 0} : b < a && b <= c ? Vec3{0, 1, 0} : Vec3{0, 0, 1};
  const Vec3 tangent = unit(axis - dot(axis, normal) * normal);
  pair.axes = {{tangent, cross(normal, tangent), normal}};
  Vec3 force, moment;
  for (size_t m = pair.first; m < loads.size(); ++m) {
    if (group[m] != number) continue;
    force = force + loads[m].force;
    moment = moment + loads[m].torque + cross(loads[m].point - pair.origin, loads[m].force);
  }
  pair.force = pair.axes * force, pair.moment = pair.axes * moment;
  pair.velocity = pair.axes * (1.0 / total * velocity);
  pair.turn = pair.axes * loads[pair.first].angular_velocity;  // the same for all contacts of two bodies
  return pair;
}

// -- the area where a pair of surfaces may touch ----------------------------------------------------------------

// Tangential forces in proportion to normal force and to distance from the center of pressure.
struct Twist {
  double rate = 0.0;         // force per normal force and distance [1/m]
  double x = 0.0, y = 0.0;   // center of pressure [m]
  double zx = 0.0, zy = 0.0; // sums of normal force times height times coordinate relative to the center [N m2]
};

// The load on a pressed taxel, along the axes of its pair.
struct TaxelLoad {
  Vec3 point, force;  // [m, N]
};

// Finds the points of a patch that the other body may press, and the forces there.
class ContactArea {
 public:
  ContactArea(const Elastic& elastic, const Taxels& taxels, ElasticScratch& scratch, Range<const Load> loads,
              const int64_t* group, int64_t number, const Pair& pair)
      : elastic_(elastic), taxels_(taxels), scratch_(scratch), near_(scratch.near), loads_(loads), group_(group),
        number_(number), pair_(pair), normal_(pair.axes.row[2]), load_(loads[pair.first]),
        spacing_(taxels.patches[load_.patch].spacing), reach_(reach_of(load_, taxels)),
        lean_x_(pair.force.x / pair.force.z), lean_y_(pair.force.y / pair.force.z) {}
  ~ContactArea() { reset(); }

  // Compute the normal forces on taxels in `scratch.layer.pressed`, which is empty if no taxel is in reach, and
  // return the twist. A thick layer also deflects and is stressed beside the pressed points.
  Twist press(bool thick);
  // The load on a pressed taxel in the frame of the pair.
  TaxelLoad load_on(size_t k, const Twist& twist) const;
  int32_t taxel(size_t k) const { return elastic_.ids_[near_.taxel[scratch_.layer.pressed.taxel[k]]]; }

 private:
  struct LevelFace {
    bool exists = false;
    // Two coordinates along the face, as linear functions: their values at the origin and gradients.
    double start_a = 0.0, start_b = 0.0;
    Vec3 a, b;
    double half_a = kInfinity, half_b = kInfinity;  // half sizes of the face [m]
  };

  // Limits of a search near a solid, in the frame of the body.
  struct Reach {
    int64_t kind;         // of the solid
    Vec3 center;          // origin of the solid [m]
    Vec3 middle, up;      // center of its bounding box [m]; its z axis
    double limit;         // height of a plane [m], or square of the distance from the center of a ball [m2]
    Vec3 half{};          // half sizes of the box around the bounding box [m]
  };

  void fit_memory();
  void reset();
  void take(int32_t taxel, double cosine);
  void take_contacts();
  void take_neighbors(size_t e);
  void search(double within);
  void search_tree(int32_t root, const Reach& reach);
  void take_leaf(int32_t first, int32_t last, const Reach& reach);
  Columns columns(size_t first) const;
  void write_gaps(const Columns& points) const;
  void measure(double volume, double depths);
  double estimate_depth(double volume);
  LevelFace level_face() const;
  void find_points(double limit, double most);
  void add_point(size_t e);
  void add_level_points(double limit);
  void add_even_points();
  void add_beside(double limit);
  void add_cell_points(double most);
  void press_nearest();
  LayerMaterial thick_layer() const;
  void press_below();
  Twist balance_taxels();
  Twist twist() const;
  struct Distribution;
  Distribution distribution() const;
  double adjust(double u, double v);
  void add_unloaded();
  void shift(const Distribution& from, double by_u, double by_v, const double (&own)[3]);
  double u_of(size_t e) const { return near_.x[e] - lean_x_ * near_.z[e]; }
  double v_of(size_t e) const { return near_.y[e] - lean_y_ * near_.z[e]; }

  const Elastic& elastic_;
  const Taxels& taxels_;
  ElasticScratch& scratch_;
  ElasticScratch::Near& near_;
  const Range<const Load> loads_;
  const int64_t* group_;
  const int64_t number_;
  const Pair& pair_;
  const Vec3 normal_;
  const Load& load_;
  const double spacing_, reach_;
  const double lean_x_, lean_y_;  // tangential force per normal force

  size_t found_ = 0, measured_ = 0;  // taxels in `near_`, and those of them whose gaps have been measured
  bool is_round_ = true;             // whether all touching geoms are smooth
  double within_ = -kInfinity;       // distance from the touching geoms within which all taxels were found [m]
  double least_ = kInfinity;         // smallest gap of the nearby taxels [m]
  double depth_ = kInfinity;         // indentation without a tilt, estimated from the centers of taxels [m]
  double least_point_ = kInfinity;   // smallest gap of all points [m]
  bool missed_ = false;              // whether no point is above the other body
};

Twist ContactArea::press(bool thick) {
  Layer& layer = scratch_.layer;
  fit_memory();
  layer.pressed.count = 0;
  const Balance balance{pair_.force, pair_.moment, foundation_of(load_, taxels_), spacing_};
  const double volume = pair_.force.z / balance.stiffness;
  take_contacts();
  scratch_.triangles.clear();
  if (std::any_of(scratch_.placed.begin(), scratch_.placed.end(), [&](const Placed& each) {
        return elastic_.solids_.table[each.solid].kind == mjGEOM_MESH;
      })) {
    // The triangles are sorted for all taxels in reach.
    search(reach_);
    const Range<const Placed> placed{scratch_.placed.data(), scratch_.placed.size()};
    scratch_.triangles.fill(elastic_.solids_, placed, columns(0), reach_);
    reset();
    take_contacts();
  }
  Layer::Result result;
  for (const double depths : kDepths) {
    measure(volume, depths);
    const double within = depths * depth_, limit = least_ + std::min(reach_, within);
    find_points(limit, within < reach_ ? limit : kMissed);
    if (layer.points.count > 0) {
      // Start with all points pressed, so that Newton's method does not get stuck at a border.
      const double start = depths > kDepths[0] ? std::min(reach_, within) : depth_ < kInfinity ? depth_ : 0.0;
      result = layer.press(balance, least_point_ + start);
    }
    // If the layer presses points beyond the limit, the result is not used.
    if ((result.miss <= kOutOfReach * spacing_ && result.highest <= limit) || within >= reach_) break;
  }
  if (thick && !missed_ && layer.pressed.count > 1) scratch_.thick.press(layer, balance, thick_layer());
  if (missed_) press_nearest();
  if (thick && layer.pressed.count > 0) press_below();
  return layer.pressed.count > 0 ? balance_taxels() : Twist{};
}

void ContactArea::fit_memory() {
  const size_t taxels = elastic_.place_.size(), points = elastic_.points_.x.size();
  if (scratch_.at.size() != taxels + kLanes) {
    scratch_.at.assign(taxels + kLanes, -1);
    for (auto* values : {&near_.x, &near_.y, &near_.z, &near_.gap, &near_.cosine, &near_.area, &near_.margin,
                         &near_.low}) {
      values->resize(taxels + kLanes);
    }
    near_.taxel.resize(taxels + kLanes);
    scratch_.loaded.assign(taxels, -1);
    scratch_.several.reserve(taxels);
  }
  scratch_.layer.reserve(std::max(points, taxels));
}

// Forget all taxels that were found.
void ContactArea::reset() {
  for (size_t e = 0; e < found_; ++e) scratch_.at[near_.taxel[e]] = -1;
  found_ = measured_ = 0, within_ = -kInfinity;
}

// Append a taxel to those near the other body.
inline void ContactArea::take(int32_t taxel, double cosine) {
  const ElasticTaxel& own = elastic_.taxels_[taxel];
  const Vec3 place = pair_.axes * (own.position - pair_.origin);
  const size_t e = found_++;
  near_.x[e] = place.x, near_.y[e] = place.y, near_.z[e] = place.z;
  near_.low[e] = kInfinity;
  near_.cosine[e] = cosine, near_.area[e] = own.area, near_.margin[e] = own.margin;
  near_.taxel[e] = taxel;
  scratch_.at[taxel] = static_cast<int32_t>(e);
}

// Find the touching geoms, the taxels nearest to the contacts, and their neighbors. The nearest ones are the only
// taxels that are found if a thin object touches between taxels.
void ContactArea::take_contacts() {
  auto &placed = scratch_.placed;
  placed.clear(), scratch_.source.clear();
  is_round_ = true;
  for (size_t m = pair_.first; m < loads_.size(); ++m) {
    if (group_[m] != number_) continue;
    const Load& load = loads_[m];
    const auto known = [&](const Placed& each) { return each.solid == load.other; };
    if (std::none_of(placed.begin(), placed.end(), known)) {
      Placed made{load.other, {}, pair_.axes * (load.other_position - pair_.origin)};
      for (int i = 0; i < 3; ++i) made.rotation.row[i] = load.other_rotation.transposed(pair_.axes.row[i]);
      placed.push_back(made), scratch_.source.push_back(m);
      is_round_ &= elastic_.solids_.table[load.other].is_round();
    }
    const int32_t nearest = elastic_.place_[taxels_.nearest(load)];
    if (scratch_.at[nearest] < 0) take(nearest, cosine_to(elastic_.taxels_[nearest].normal, normal_));
  }
  for (size_t e = 0, count = found_; e < count; ++e) take_neighbors(e);
}

// Append the neighbors of a nearby taxel that face the other body, unless they have been found before.
void ContactArea::take_neighbors(size_t e) {
  const int32_t* beside = elastic_.beside_.data() + near_.taxel[e] * elastic_.width_;
  for (size_t n = 0; n < elastic_.width_; ++n) {
    if (scratch_.at[beside[n]] >= 0) continue;
    const double cosine = cosine_to(elastic_.taxels_[beside[n]].normal, normal_);
    if (cosine > kFacing) take(beside[n], cosine);
  }
}

// Append the taxels that face the other body within a distance of its geoms [m]. Some that are farther away are
// also found.
void ContactArea::search(double within) {
  for (const size_t m : scratch_.source) {
    const Load& load = loads_[m];
    const Solid& solid = elastic_.solids_.table[load.other];
    const Mat3& r = load.other_rotation;
    Reach reach{solid.kind, load.other_position, {}, {r.row[0].z, r.row[1].z, r.row[2].z}, 0.0};
    if (solid.kind == mjGEOM_PLANE) reach.limit = dot(reach.up, reach.center) + within;
    if (solid.kind == mjGEOM_SPHERE) reach.limit = (solid.size.x + within) * (solid.size.x + within);
    if (solid.kind != mjGEOM_PLANE) {
      reach.half = {within, within, within};
      for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
          reach.middle[i] += r.row[i][k] * solid.box.center[k];
          reach.half[i] += std::abs(r.row[i][k]) * solid.box.half[k];
        }
      }
      reach.middle = reach.middle + reach.center;
    }
    search_tree(elastic_.roots_[load_.patch], reach);
  }
  within_ = within;
}

// Go through the tree of a patch, and append the taxels in reach that face the other body.
TACTILE_WIDE void ContactArea::search_tree(int32_t root, const Reach& reach) {
  struct Level {
    int32_t siblings;
    int next;  // of the siblings
    bool open[kLanes];
  };
  constexpr int kDeepest = 32;
  Level levels[kDeepest];
  const Vec3 n = normal_, up = reach.up, half = reach.half;
  const auto enter = [&](Level& level, int32_t siblings) {
    const Elastic::Siblings& s = elastic_.siblings_[siblings];
    Lanes x, y, z, hx, hy, hz;
    load(x, s.normal_x), load(y, s.normal_y), load(z, s.normal_z);
    load(hx, s.spread_x), load(hy, s.spread_y), load(hz, s.spread_z);
    const Lanes facing = hx * std::abs(n.x) + hy * std::abs(n.y) + hz * std::abs(n.z) - (x * n.x + y * n.y + z * n.z);
    load(x, s.x), load(y, s.y), load(z, s.z), load(hx, s.half_x), load(hy, s.half_y), load(hz, s.half_z);
    Mask beyond;
    if (reach.kind == mjGEOM_PLANE) {
      beyond = up.x * x + up.y * y + up.z * z - std::abs(up.x) * hx - std::abs(up.y) * hy - std::abs(up.z) * hz >
               reach.limit;
    } else {
      x -= reach.middle.x, y -= reach.middle.y, z -= reach.middle.z;
      x = (x < 0.0 ? -x : x) - hx, y = (y < 0.0 ? -y : y) - hy, z = (z < 0.0 ? -z : z) - hz;
      beyond = (x > half.x) | (y > half.y) | (z > half.z);
      if (reach.kind == mjGEOM_SPHERE) {
        x = x > 0.0 ? x : Lanes{}, y = y > 0.0 ? y : Lanes{}, z = z > 0.0 ? z : Lanes{};
        beyond = x * x + y * y + z * z > reach.limit;
      }
    }
    const Mask open = ~beyond & (facing > kFacing);
    level = {siblings, 0, {open[0] != 0, open[1] != 0, open[2] != 0, open[3] != 0}};
  };
  enter(levels[0], root);
  for (int depth = 0; depth >= 0;) {
    Level& level = levels[depth];
    const Elastic::Siblings& s = elastic_.siblings_[level.siblings];
    if (level.next == s.count) {
      --depth;
      continue;
    }
    const int k = level.next++;
    if (!level.open[k]) continue;
    if (s.children[k] >= 0) {
      enter(levels[++depth], s.children[k]);
    } else {
      take_leaf(s.first[k], s.last[k], reach);
    }
  }
}

// Append the taxels in [first, last) that are in reach and face the other body.
inline __attribute__((always_inline)) void ContactArea::take_leaf(int32_t first, int32_t last, const Reach& reach) {
  using Whole = int32_t __attribute__((vector_size(kLanes * sizeof(int32_t))));
  const auto& own = elastic_.columns_;
  const Vec3 *axis = pair_.axes.row, o = pair_.origin, n = normal_, up = reach.up;
  for (int32_t t = first; t < last; t += kLanes) {
    Lanes x, y, z, nx, ny, nz, area, margin;
    load(x, &own.x[t]), load(y, &own.y[t]), load(z, &own.z[t]);
    load(nx, &own.normal_x[t]), load(ny, &own.normal_y[t]), load(nz, &own.normal_z[t]);
    load(area, &own.area[t]), load(margin, &own.margin[t]);
    Whole at;
    std::memcpy(&at, &scratch_.at[t], sizeof(at));
    const Whole index = Whole{0, 1, 2, 3} + t;
    Mask taken = __builtin_convertvector((at < 0) & (index < last), Mask);
    if (reach.kind == mjGEOM_PLANE) taken &= up.x * x + up.y * y + up.z * z <= reach.limit;
    if (reach.kind == mjGEOM_SPHERE) {
      const Lanes dx = x - reach.center.x, dy = y - reach.center.y, dz = z - reach.center.z;
      taken &= dx * dx + dy * dy + dz * dz <= reach.limit;
    }
    const Lanes cosine = -(nx * n.x + ny * n.y + nz * n.z);
    taken &= (cosine > kFacing) | ((nx == 0.0) & (ny == 0.0) & (nz == 0.0));
    x -= o.x, y -= o.y, z -= o.z;
    const Lanes u = axis[0].x * x + axis[0].y * y + axis[0].z * z, v = axis[1].x * x + axis[1].y * y + axis[1].z * z;
    const Lanes w = axis[2].x * x + axis[2].y * y + axis[2].z * z, none = Lanes{} + kInfinity;
    size_t e = found_;
    if (taken[0] & taken[1] & taken[2] & taken[3]) {
      const Whole places = Whole{0, 1, 2, 3} + static_cast<int32_t>(e);
      store(&near_.x[e], u), store(&near_.y[e], v), store(&near_.z[e], w), store(&near_.low[e], none);
      store(&near_.cosine[e], cosine), store(&near_.area[e], area), store(&near_.margin[e], margin);
      std::memcpy(&near_.taxel[e], &index, sizeof(index)), std::memcpy(&scratch_.at[t], &places, sizeof(places));
      found_ = e + kLanes;
      continue;
    }
    for (int i = 0; i < kLanes; ++i) {
      if (!taken[i]) continue;
      near_.x[e] = u[i], near_.y[e] = v[i], near_.z[e] = w[i], near_.low[e] = kInfinity;
      near_.cosine[e] = cosine[i], near_.area[e] = area[i], near_.margin[e] = margin[i];
      near_.taxel[e] = t + i, scratch_.at[t + i] = static_cast<int32_t>(e);
      found_ = ++e;
    }
  }
}

// The nearby taxels from `first` on.
Columns ContactArea::columns(size_t first) const {
  return {&near_.x[first], &near_.y[first], &near_.z[first], &near_.gap[first], found_ - first};
}

// Write the gaps from points of the skin down to the other body; infinite if nothing is below a point.
void ContactArea::write_gaps(const Columns& points) const {
  std::fill_n(points.gap, points.count, kInfinity);
  for (const Placed& each : scratch_.placed) {
    const Solid& solid = elastic_.solids_.table[each.solid];
    if (solid.kind != mjGEOM_MESH) reduce_gaps(solid, each, points);
  }
  scratch_.triangles.reduce_gaps(points);
}

// Measure the gaps of the nearby taxels, and search farther if more taxels may be pressed.
void ContactArea::measure(double volume, double depths) {
  while (true) {
    write_gaps(columns(measured_));
    for (size_t e = measured_; e < found_; ++e) least_ = std::min(least_, near_.gap[e]);
    measured_ = found_;
    depth_ = estimate_depth(volume);
    const double needed = least_ + depths * depth_;
    if (!(within_ < needed) || within_ >= reach_) return;  // also if the loads are not numbers
    search(std::min(std::max(needed, 0.0), reach_));
  }
}

// Estimate the indentation without a tilt from the gaps at the centers of taxels, relative to the smallest gap [m].
// It is infinite if no taxel has a finite gap. `volume` is the sum of area times depth to reach [m3].
TACTILE_WIDE double ContactArea::estimate_depth(double volume) {
  for (size_t e = found_; e < found_ + kLanes; ++e) near_.gap[e] = kInfinity, near_.area[e] = 0.0;
  double depth = kInfinity;
  for (int cut = 0; cut < kMostCuts; ++cut) {
    Lanes area{}, above_area{};
    for (size_t e = 0; e < found_; e += kLanes) {
      Lanes above, own;
      load(above, &near_.gap[e]), load(own, &near_.area[e]);
      above -= least_;
      const Mask below = above < depth;
      area += below ? own : Lanes{};
      above_area += below ? own * above : Lanes{};
    }
    const double total = sum(area);
    if (total == 0.0) return kInfinity;
    const double next = (sum(above_area) + volume) / total;
    if (next >= depth) break;
    depth = next;
  }
  return depth;
}

// The level face of the other body, if only one of its geoms touches and has such a face. Between neighboring
// taxels under this face, the gap changes linearly.
ContactArea::LevelFace ContactArea::level_face() const {
  LevelFace found;
  if (scratch_.placed.size() != 1) return found;
  const Placed& placed = scratch_.placed[0];
  const Solid& solid = elastic_.solids_.table[placed.solid];
  const Vec3* r = placed.rotation.row;
  if (solid.kind == mjGEOM_PLANE) found.exists = r[2].z > kUpright;
  if (solid.kind == mjGEOM_BOX) {
    for (int face = 0; face < 3; ++face) {
      if (!(std::abs(r[2][face]) > kUpright)) continue;
      const int i = (face + 1) % 3, j = (face + 2) % 3;
      found.exists = true;
      found.a = {r[0][i], r[1][i], r[2][i]}, found.b = {r[0][j], r[1][j], r[2][j]};
      found.start_a = -dot(found.a, placed.position), found.start_b = -dot(found.b, placed.position);
      found.half_a = solid.size[i], found.half_b = solid.size[j];
    }
  }
  return found;
}

// Find the points of the patch that the other body may press. A taxel is represented by one point if the gap is
// even over its cell, and by several points at an edge of either surface. There are no points if the gaps of all
// of them exceed `most` [m]. Gaps of pressed taxels are at most `limit` [m].
void ContactArea::find_points(double limit, double most) {
  scratch_.layer.points.count = 0;
  scratch_.several.clear();
  add_level_points(limit);
  for (size_t k = 0; k < scratch_.several.size(); ++k) take_neighbors(scratch_.several[k]);
  write_gaps(columns(measured_));
  measured_ = found_;
  add_even_points();
  add_beside(limit);
  add_cell_points(most);
}

// Add a single point that represents a nearby taxel.
inline void ContactArea::add_point(size_t e) {
  LayerPoints& points = scratch_.layer.points;
  const size_t k = points.count++;
  points.u[k] = near_.x[e], points.v[k] = near_.y[e], points.z[k] = near_.z[e];
  points.gap[k] = near_.gap[e], points.area[k] = near_.cosine[e] * near_.area[e];
  points.taxel[k] = static_cast<int32_t>(e);
}

// Add a point for each taxel that is, with all its neighbors, under a level face. The other taxels within the limit
// are written to `several`.
TACTILE_WIDE void ContactArea::add_level_points(double limit) {
  LayerPoints& points = scratch_.layer.points;
  const LevelFace face = level_face();
  // Neighbors may be a little farther away along the face.
  const double most_margin = face.exists ? kUneven * spacing_ / kLevelSlope : -1.0, further = 1.1;
  for (size_t e = 0; e < measured_; e += kLanes) {
    Lanes x, y, z, gap, cosine, area, margin;
    load(x, &near_.x[e]), load(y, &near_.y[e]), load(z, &near_.z[e]), load(gap, &near_.gap[e]);
    load(cosine, &near_.cosine[e]), load(area, &near_.area[e]), load(margin, &near_.margin[e]);
    const Lanes below = z - gap, beside = further * margin;
    const Lanes a = face.start_a + face.a.x * x + face.a.y * y + face.a.z * below;
    const Lanes b = face.start_b + face.b.x * x + face.b.y * y + face.b.z * below;
    const Mask within = ~(gap > limit);
    const Mask level = within & (margin >= 0.0) & (margin <= most_margin) & (cosine > kUpright) &
                       (a + beside <= face.half_a) & (beside - a <= face.half_a) & (b + beside <= face.half_b) &
                       (beside - b <= face.half_b);
    if (e + kLanes <= measured_ && (level[0] & level[1] & level[2] & level[3])) {
      const size_t k = points.count;
      area *= cosine;
      store(&points.u[k], x), store(&points.v[k], y), store(&points.z[k], z);
      store(&points.gap[k], gap), store(&points.area[k], area);
      for (int i = 0; i < kLanes; ++i) points.taxel[k + i] = static_cast<int32_t>(e + i);
      points.count = k + kLanes;
      continue;
    }
    for (int i = 0; i < kLanes && e + i < measured_; ++i) {
      if (level[i]) {
        add_point(e + i);
      } else if (within[i]) {
        scratch_.several.push_back(static_cast<int32_t>(e + i));
      }
    }
  }
}

// Add a point for each taxel in `several` with an even gap, and keep those that need several points. Updates `low`
// of their neighbors.
void ContactArea::add_even_points() {
  const double uneven = kUneven * spacing_;
  auto& several = scratch_.several;
  const bool many = scratch_.layer.points.count + several.size() > kMany;
  size_t kept = 0;
  for (const int32_t e : several) {
    const int32_t* beside = elastic_.beside_.data() + near_.taxel[e] * elastic_.width_;
    const double here = near_.gap[e];
    double low = here, high = here;
    for (size_t n = 0; n < elastic_.width_; ++n) {
      const int32_t b = scratch_.at[beside[n]];
      const double there = b < 0 ? kInfinity : std::min(near_.gap[b], kMissed);
      low = std::min(low, there), high = std::max(high, there);
      if (b >= 0) near_.low[b] = std::min(near_.low[b], here);
    }
    const bool smooth = near_.margin[e] >= 0.0 && near_.cosine[e] > kFacing && many;
    if (smooth && here - low <= uneven && high - here <= uneven) {
      add_point(e);
    } else {
      several[kept++] = e;
    }
  }
  several.resize(kept);
}

// Add taxels beyond the limit to `several` that have neighbors within it, and whose cells may be pressed in part.
void ContactArea::add_beside(double limit) {
  for (size_t e = 0; e < measured_; ++e) {
    const double here = near_.gap[e], low = near_.low[e];
    if (!(here > limit) || !(low < kInfinity)) continue;
    // Between two smooth surfaces, the gap beside a taxel is about the mean of both gaps.
    const bool between = is_round_ && near_.margin[e] >= 0.0 && here < kInfinity;
    if ((between ? 0.5 * (here + low) : low) <= limit) scratch_.several.push_back(static_cast<int32_t>(e));
  }
}

// Add those points of the taxels in `several` that face the other body. All points are removed if their gaps exceed
// `most`.
TACTILE_WIDE void ContactArea::add_cell_points(double most) {
  LayerPoints& points = scratch_.layer.points;
  const auto& own = elastic_.points_;
  const Vec3 *axis = pair_.axes.row, o = pair_.origin, n = normal_;
  const size_t single = points.single = points.count;
  size_t k = single, taxels = single;
  points.end.clear();
  for (const int32_t e : scratch_.several) {
    const ElasticTaxel* taxel = &elastic_.taxels_[near_.taxel[e]];
    const bool same = taxel->margin >= 0.0 && near_.cosine[e] > kFacing;  // the points have the taxel's normal
    Lanes cosine = Lanes{} + near_.cosine[e];
    const size_t first = k;
    for (int32_t q = taxel->begin; q < taxel[1].begin; q += kLanes) {
      Lanes x, y, z, area;
      load(x, &own.x[q]), load(y, &own.y[q]), load(z, &own.z[q]), load(area, &own.area[q]);
      x -= o.x, y -= o.y, z -= o.z;
      const Lanes u = axis[0].x * x + axis[0].y * y + axis[0].z * z, v = axis[1].x * x + axis[1].y * y + axis[1].z * z;
      const Lanes w = axis[2].x * x + axis[2].y * y + axis[2].z * z;
      const int count = std::min(kLanes, taxel[1].begin - q);
      if (same) {
        store(&points.u[k], u), store(&points.v[k], v), store(&points.z[k], w), store(&points.area[k], cosine * area);
        k += count;
        continue;
      }
      load(x, &own.normal_x[q]), load(y, &own.normal_y[q]), load(z, &own.normal_z[q]);
      cosine = (x == 0.0) & (y == 0.0) & (z == 0.0) ? Lanes{} + 1.0 : -(x * n.x + y * n.y + z * n.z);
      area *= cosine;
      for (int i = 0; i < count; ++i) {
        points.u[k] = u[i], points.v[k] = v[i], points.z[k] = w[i], points.area[k] = area[i];
        k += cosine[i] > kFacing;  // a point that faces away is overwritten by the next one
      }
    }
    points.taxel[taxels] = e;
    if (k > first) points.end.push_back(static_cast<int32_t>(k)), ++taxels;
  }
  points.count = k;
  write_gaps({&points.u[single], &points.v[single], &points.z[single], &points.gap[single], k - single});
  points.pad();
  Lanes lowest = Lanes{} + kInfinity;
  const Lanes missed = Lanes{} + kMissed;
  for (k = single; k < points.count; k += kLanes) {
    Lanes gap;
    load(gap, &points.gap[k]);
    gap = gap < missed ? gap : missed;  // sums over infinite depths are not numbers
    store(&points.gap[k], gap);
    lowest = gap < lowest ? gap : lowest;
  }
  const double least = -largest(-lowest);
  if (single == 0 && !(least <= most)) points.count = 0;
  least_point_ = std::min(least, least_);
  missed_ = single == 0 && least >= kMissed;
}

// -- forces on taxels ---------------------------------------------------------------------------------------------

// The mean of the positions of pressed taxels, and their variances, weighted by force.
struct ContactArea::Distribution {
  double u = 0.0, v = 0.0;               // [m]
  double uu = 0.0, uv = 0.0, vv = 0.0;   // [m2]
  double cell_u = 0.0, cell_v = 0.0;     // mean of the centers of pressure in the cells, relative to the taxels [m]
};

// Press only the taxel nearest to the center of pressure, if it is close: the other body is between the points.
void ContactArea::press_nearest() {
  const double f = pair_.force.z, u = -pair_.moment.y / f, v = pair_.moment.x / f;
  size_t nearest = 0;
  double least = kFarthest * kFarthest * spacing_ * spacing_;
  scratch_.layer.pressed.count = 0;
  for (size_t e = 0; e < found_; ++e) {
    const double du = u_of(e) - u, dv = v_of(e) - v, square = du * du + dv * dv;
    if (square < least) least = square, nearest = e, scratch_.layer.pressed.count = 1;
  }
  Pressed& on = scratch_.layer.pressed;
  on.taxel[0] = static_cast<int32_t>(nearest), on.force[0] = f;
  on.u[0] = u_of(nearest), on.v[0] = v_of(nearest);
}

// The thick layer between the surfaces. Of two layers, the more compliant one represents both, with their compliance.
LayerMaterial ContactArea::thick_layer() const {
  const Patch *layer = &taxels_.patches[load_.patch], *other = layer;
  if (load_.other_patch >= 0) other = &taxels_.patches[load_.other_patch];
  const double compliance = layer->thickness / layer->modulus, others = other->thickness / other->modulus;
  if (others > compliance || (others == compliance && other < layer)) layer = other;
  return {taxels_.layers.data() + layer->table * kLayerTable, layer->thickness * foundation_of(load_, taxels_),
          layer->thickness};
}

// Change the normal forces on taxels to those at their depth in the layer.
void ContactArea::press_below() {
  const Patch& own = taxels_.patches[load_.patch];
  if (!(own.depth > 0.0)) return;
  Pressed& on = scratch_.layer.pressed;
  const LayerMaterial material{taxels_.layers.data() + own.table * kLayerTable, own.modulus, own.thickness};
  double center[2];
  const double within = scratch_.thick.press_below(on, material, own.depth, spacing_, center);
  const Vec3 middle = pair_.origin + center[0] * pair_.axes.row[0] + center[1] * pair_.axes.row[1];
  search_tree(elastic_.roots_[load_.patch], {mjGEOM_SPHERE, middle, middle, {}, within * within, {within, within, within}});
  const double local = scratch_.thick.local_stress();
  for (size_t k = 0; k < on.count; ++k) scratch_.loaded[on.taxel[k]] = static_cast<int32_t>(k);
  double total = 0.0;
  for (size_t e = 0; e < found_; ++e) {
    const double u = u_of(e), v = v_of(e);
    const double spread = std::max(scratch_.thick.stress(u, v), 0.0) * near_.area[e] * near_.cosine[e];
    int32_t& k = scratch_.loaded[e];
    if (k < 0 && !(spread > 0.0)) continue;
    if (k < 0) k = static_cast<int32_t>(on.count++), on.force[k] = 0.0, on.taxel[k] = static_cast<int32_t>(e);
    // Without a force of its own, the center of pressure is at the taxel.
    const double own_force = local * on.force[k], force = own_force + spread;
    on.u[k] = force > 0.0 ? u + own_force / force * (on.u[k] - u) : u;
    on.v[k] = force > 0.0 ? v + own_force / force * (on.v[k] - v) : v;
    on.force[k] = force, total += force;
  }
  for (size_t k = 0; k < on.count; ++k) scratch_.loaded[on.taxel[k]] = -1;
  for (size_t k = 0; k < on.count; ++k) on.force[k] *= pair_.force.z / total;
}

// Adjust the forces on taxels, which act at the positions of the taxels, until they balance the moments.
//
// In a direction in which the contact is longer than about four spacings, the forces are adjusted in place, which
// changes them little. Where the contact is as small as a taxel, only a shift to neighboring taxels can move the center
// of pressure. In between, both are combined in proportion, so that readings are continuous while a contact slides and
// changes. If the loaded taxels cannot have the moment afterwards, all taxels in reach share the force.
Twist ContactArea::balance_taxels() {
  const double f = pair_.force.z, square = spacing_ * spacing_;
  Twist twist = this->twist();
  bool all = false, missed = false, adjusted = false;
  for (int round = 0; round < kMostRounds; ++round) {
    const double u = -(pair_.moment.y + twist.rate * twist.zy) / f, v = (pair_.moment.x + twist.rate * twist.zx) / f;
    const Distribution now = distribution();
    const double du = u - now.u, dv = v - now.v;
    if (!(std::abs(du) + std::abs(dv) > kClose * spacing_)) break;
    // The principal axes of the contact are (c, s) and (-s, c).
    const double half = 0.5 * (now.uu - now.vv), apart = std::sqrt(half * half + now.uv * now.uv);
    const double mean = 0.5 * (now.uu + now.vv), turn = 0.5 * std::atan2(now.uv, half);
    const double c = std::cos(turn), s = std::sin(turn);
    const double p = 1.0 - std::min((mean + apart) / square, 1.0);
    const double q = 1.0 - std::min(std::max(mean - apart, 0.0) / square, 1.0);
    if (round == 0 && (p > 0.0 || q > 0.0)) {
      const double uu = p * c * c + q * s * s, uv = (p - q) * c * s, vv = p * s * s + q * c * c;
      adjust(u - uu * du - uv * dv, v - uv * du - vv * dv);
      const Distribution moved = distribution();
      shift(moved, u - moved.u, v - moved.v, {uu, uv, vv});
    } else {
      missed = adjust(u, v) > kOutOfReach * spacing_, adjusted = true;
    }
    const double rate = twist.rate;
    twist = this->twist();
    if (missed && all) break;  // out of reach of all taxels
    if (missed) add_unloaded(), all = true;
    if (adjusted && !missed && rate == 0.0 && twist.rate == 0.0) break;  // the required center is the same
  }
  return twist;
}

ContactArea::Distribution ContactArea::distribution() const {
  const Pressed& on = scratch_.layer.pressed;
  Distribution all;
  double total = 0.0;
  for (size_t k = 0; k < on.count; ++k) {
    const double f = on.force[k], u = u_of(on.taxel[k]), v = v_of(on.taxel[k]);
    total += f;
    all.u += f * u, all.v += f * v, all.uu += f * u * u, all.uv += f * u * v, all.vv += f * v * v;
    all.cell_u += f * (on.u[k] - u), all.cell_v += f * (on.v[k] - v);
  }
  for (double* sum : {&all.u, &all.v, &all.uu, &all.uv, &all.vv, &all.cell_u, &all.cell_v}) *sum /= total;
  all.uu -= all.u * all.u, all.uv -= all.u * all.v, all.vv -= all.v * all.v;
  return all;
}

// Find those forces with this center of pressure [m] that differ least from the present ones, relative to them.
// Returns the distance by which the center is missed.
double ContactArea::adjust(double u, double v) {
  Pressed& on = scratch_.layer.pressed;
  LayerPoints& points = scratch_.layer.points;
  points.count = on.count;
  for (size_t k = 0; k < on.count; ++k) {
    points.u[k] = u_of(on.taxel[k]), points.v[k] = v_of(on.taxel[k]);
    points.area[k] = std::max(on.force[k], kUnloaded * pair_.force.z);
    points.gap[k] = -on.force[k] / points.area[k];
  }
  return scratch_.layer.adjust(pair_.force.z, u, v, spacing_);
}

// Append all other taxels in reach to the pressed ones, without a force.
void ContactArea::add_unloaded() {
  Pressed& on = scratch_.layer.pressed;
  if (within_ < reach_) search(reach_);
  write_gaps(columns(measured_));
  measured_ = found_;
  for (size_t k = 0; k < on.count; ++k) scratch_.loaded[on.taxel[k]] = static_cast<int32_t>(k);
  const size_t loaded = on.count;
  for (size_t e = 0; e < found_; ++e) {
    if (scratch_.loaded[e] >= 0 || !(near_.gap[e] <= least_ + reach_)) continue;
    const size_t n = on.count++;
    on.taxel[n] = static_cast<int32_t>(e), on.force[n] = 0.0, on.u[n] = u_of(e), on.v[n] = v_of(e);
  }
  for (size_t k = 0; k < loaded; ++k) scratch_.loaded[on.taxel[k]] = -1;
}

// Move the center of pressure by moving forces from taxels to their neighbors. The forces move by different
// distances, according to the centers of pressure in the cells, in directions in which the contact is small: the
// factors `own` are the elements uu, uv and vv of a matrix.
void ContactArea::shift(const Distribution& from, double by_u, double by_v, const double (&own)[3]) {
  Pressed& on = scratch_.layer.pressed;
  std::vector<int32_t>& loaded = scratch_.loaded;
  std::vector<double>& moved = scratch_.moved;
  const size_t count = on.count;
  moved.assign(on.force.begin(), on.force.begin() + count);
  for (size_t k = 0; k < count; ++k) loaded[on.taxel[k]] = static_cast<int32_t>(k);
  struct Step {
    int32_t to = -1;
    double u = 0.0, v = 0.0, cosine = -kInfinity;  // of the angle to the way of the force, times its length
  };
  for (size_t k = 0; k < count; ++k) {
    const size_t e = on.taxel[k];
    const double cell_u = on.u[k] - u_of(e) - from.cell_u, cell_v = on.v[k] - v_of(e) - from.cell_v;
    double u = by_u + own[0] * cell_u + own[1] * cell_v, v = by_v + own[1] * cell_u + own[2] * cell_v;
    const double far = std::sqrt(u * u + v * v) / (kFarthest * spacing_);
    if (far > 1.0) u /= far, v /= far;
    if (u == 0.0 && v == 0.0) continue;
    // The neighbors on both sides of the way, which form a triangle with the taxel.
    Step left, right;
    take_neighbors(e);
    for (size_t n = 0; n < elastic_.width_; ++n) {
      const int32_t b = scratch_.at[elastic_.beside_[near_.taxel[e] * elastic_.width_ + n]];
      if (b < 0 || static_cast<size_t>(b) == e) continue;
      Step step{b, u_of(b) - u_of(e), v_of(b) - v_of(e)};
      step.cosine = (u * step.u + v * step.v) / std::sqrt(step.u * step.u + step.v * step.v);
      Step& side = u * step.v - v * step.u >= 0.0 ? left : right;
      if (step.cosine > side.cosine) side = step;
    }
    const double area = right.u * left.v - right.v * left.u;
    double to_right = (u * left.v - v * left.u) / area, to_left = (right.u * v - right.v * u) / area;
    if (right.to < 0 || left.to < 0 || !(area > 0.0)) {  // at an edge of the skin
      const Step& side = left.cosine > right.cosine ? left : right;
      if (!(side.cosine > 0.0)) continue;
      const double share = (u * side.u + v * side.v) / (side.u * side.u + side.v * side.v);
      to_left = &side == &left ? share : 0.0, to_right = share - to_left;
    }
    const double most = std::max(to_left + to_right, 1.0);
    const auto move = [&](int32_t to, double share) {
      if (!(share > 0.0)) return;
      if (loaded[to] < 0) {
        const size_t n = on.count++;
        on.taxel[n] = to, on.force[n] = 0.0, on.u[n] = u_of(to), on.v[n] = v_of(to);
        loaded[to] = static_cast<int32_t>(n);
        moved.push_back(0.0);
      }
      moved[loaded[to]] += share * on.force[k];
      moved[k] -= share * on.force[k];
    };
    move(left.to, to_left / most), move(right.to, to_right / most);
  }
  size_t kept = 0;
  for (size_t k = 0; k < on.count; ++k) {
    loaded[on.taxel[k]] = -1;
    on.force[kept] = moved[k], on.taxel[kept] = on.taxel[k], on.u[kept] = on.u[k], on.v[kept] = on.v[k];
    kept += moved[k] > 0.0;
  }
  on.count = kept;
}

// The twist that balances the torsional moment.
Twist ContactArea::twist() const {
  const Pressed& on = scratch_.layer.pressed;
  const double f = pair_.force.z;
  Twist twist;
  double z = 0.0;
  for (size_t k = 0; k < on.count; ++k) {
    const size_t e = on.taxel[k];
    twist.x += on.force[k] * near_.x[e], twist.y += on.force[k] * near_.y[e], z += on.force[k] * near_.z[e];
  }
  twist.x /= f, twist.y /= f, z /= f;
  const double torsion = pair_.moment.z - (twist.x * pair_.force.y - twist.y * pair_.force.x);
  if (!(std::abs(torsion) > kSmall * f * spacing_)) return twist;
  double inertia = 0.0;
  for (size_t k = 0; k < on.count; ++k) {
    const size_t e = on.taxel[k];
    const double dx = near_.x[e] - twist.x, dy = near_.y[e] - twist.y, fz = on.force[k] * near_.z[e];
    inertia += on.force[k] * (dx * dx + dy * dy);
    twist.zx += fz * dx, twist.zy += fz * dy;
  }
  twist.rate = torsion / std::max(inertia, kLeastInertia * f * spacing_ * spacing_);
  return twist;
}

TaxelLoad ContactArea::load_on(size_t k, const Twist& twist) const {
  const Pressed& on = scratch_.layer.pressed;
  const size_t e = on.taxel[k];
  const double f = on.force[k], x = near_.x[e], y = near_.y[e];
  const double across_x = lean_x_ - twist.rate * (y - twist.y), across_y = lean_y_ + twist.rate * (x - twist.x);
  return {{x, y, near_.z[e]}, {f * across_x, f * across_y, f}};
}

// -- readings ---------------------------------------------------------------------------------------------------

// Call visit(pair, load, area, twist) for each pair that presses taxels; set the group of the others' loads to -1.
template <class Visit>
size_t Elastic::for_each_pair(const Taxels& taxels, ElasticScratch& scratch, Law law, Range<const Load> loads,
                              int64_t* group, Visit visit) const {
  const int64_t pairs = group_loads(loads, group);
  for (int64_t number = 0; number < pairs; ++number) {
    const Pair pair = net_load(loads, group, number);
    if (pair.force.z > 0.0) {
      ContactArea area(*this, taxels, scratch, loads, group, number, pair);
      const Twist twist = area.press(law == Law::kThick);
      if (scratch.layer.pressed.count > 0) {
        visit(pair, loads[pair.first], area, twist);
        continue;
      }
    }
    // No taxel is in reach, or the loads pull together.
    std::replace(group, group + loads.size(), number, int64_t{-1});
  }
  return std::count(group, group + loads.size(), -1);
}

size_t Elastic::add_readings(const Taxels& taxels, ElasticScratch& scratch, Law law, Range<const Load> loads,
                             int64_t* group, Quantity quantity, Sums& sums) const {
  const auto add = [&](const Pair& pair, const Load& load, const ContactArea& area, const Twist& twist) {
    Mat3 axes = pair.axes;
    if (quantity == Quantity::kForceVectorGlobal) {
      for (Vec3& row : axes.row) row = load.rotation * row;
    }
    const bool slip = quantity == Quantity::kSlip;
    const bool friction = quantity != Quantity::kNormalForce, normal = quantity != Quantity::kFriction;
    // Without a twist, all forces have the same direction.
    const bool parallel = twist.rate == 0.0 && !slip;
    const double lean = friction ? 1.0 / pair.force.z : 0.0;
    const Vec3 direction = axes.transposed({lean * pair.force.x, lean * pair.force.y, normal ? 1.0 : 0.0});
    const Pressed& pressed = scratch.layer.pressed;
    for (size_t k = 0; k < pressed.count; ++k) {
      double* sum = sums.touch(area.taxel(k));
      const double push = pressed.force[k];
      sum[0] += slip ? push : 1.0;
      if (quantity == Quantity::kNormal) {
        sum[1] += push;
        continue;
      }
      Vec3 value = push * direction;
      if (!parallel) {
        const TaxelLoad taxel = area.load_on(k, twist);
        value = slip ? push * (pair.velocity + cross(pair.turn, taxel.point)) : taxel.force;
        if (!friction) value.x = value.y = 0.0;
        if (!normal || slip) value.z = 0.0;
        value = axes.transposed(value);
      }
      for (int i = 0; i < 3; ++i) sum[1 + i] += value[i];
    }
  };
  return for_each_pair(taxels, scratch, law, loads, group, add);
}

size_t Elastic::loads_on_taxels(const Taxels& taxels, ElasticScratch& scratch, Law law, Range<const Load> loads,
                                int64_t* group, std::vector<Load>& out, std::vector<int64_t>& taxel) const {
  const auto append = [&](const Pair& pair, const Load& load, const ContactArea& area, const Twist& twist) {
    for (size_t k = 0; k < scratch.layer.pressed.count; ++k) {
      const TaxelLoad each = area.load_on(k, twist);
      Load made = load;
      made.point = pair.origin + pair.axes.transposed(each.point);
      made.force = pair.axes.transposed(each.force);
      made.force_world = load.rotation * made.force;
      made.velocity = pair.axes.transposed(pair.velocity + cross(pair.turn, each.point));
      made.normal = pair.axes.row[2];
      made.torque = made.angular_velocity = {};
      made.friction = pair.friction;
      out.push_back(made), taxel.push_back(area.taxel(k));
    }
  };
  return for_each_pair(taxels, scratch, law, loads, group, append);
}

}  // namespace tactile

#include "tactile/feelers.h"

#include <algorithm>

namespace tactile {

namespace {

constexpr int kLeaf = 12;  // largest number of feelers in a leaf
// Depth below the surface at which the thickness is measured, as a fraction of the depth of interest. Exactly
// on the surface, rounding errors would decide whether a point is inside the body.
constexpr double kJust = 1e-4;

// Return the geoms that can cover the feelers of a body: those of other bodies that can collide.
std::vector<int> obstacles_of(const mjModel& m, int body, bool children) {
  std::vector<bool> own(m.nbody, false), paired(m.ngeom, false);
  own[body] = true;
  if (!children && body != 0) {
    for (int b = body + 1; b < m.nbody; ++b) own[b] = own[m.body_parentid[b]];  // parents come first
  }
  for (int p = 0; p < m.npair; ++p) paired[m.pair_geom1[p]] = paired[m.pair_geom2[p]] = true;
  std::vector<int> found;
  for (int g = 0; g < m.ngeom; ++g) {
    const bool collides = m.geom_contype[g] != 0 || m.geom_conaffinity[g] != 0 || paired[g];
    if (collides && !own[m.geom_bodyid[g]]) found.push_back(g);
  }
  return found;
}

Pose geom_in_body(const mjModel& m, int geom) {
  const double* q = m.geom_quat + 4 * geom;
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double rotation[9] = {
      w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y),
      2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x),
      2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z,
  };
  return Pose::from(rotation, m.geom_pos + 3 * geom);
}

bool misses_sphere(const Ray& ray, double reach, double radius) {
  const double along = std::min(std::max(-dot(ray.start, ray.direction), 0.0), reach);
  const Vec3 p = ray.start + along * ray.direction;
  return dot(p, p) > radius * radius;
}

}  // namespace

Feelers::Feelers(const mjModel& model, const std::vector<FeelerBody>& bodies) {
  for (const FeelerBody& body : bodies) {
    Group group{body.body, static_cast<int>(feelers_.size()), {}, {}, 0.0, {}};
    group.obstacles = obstacles_of(model, body.body, body.children);
    for (const int g : group.obstacles) describe(model, g);
    for (int g = 0; g < model.body_geomnum[body.body]; ++g) describe(model, model.body_geomadr[body.body] + g);

    const int count = static_cast<int>(body.positions.size()), begin = static_cast<int>(lengths_.size());
    std::vector<Vec3> low(count), high(count);
    std::vector<Feeler> feelers(count);
    for (int f = 0; f < count; ++f) {
      const Vec3 root = body.positions[f], normal = body.normals[f];
      double inside = body.tolerance * body.lengths[f];
      inside = std::min(inside, 0.5 * thickness(model, body.body, {root, -1.0 * normal}, 2 * inside));
      const Vec3 start = root - inside * normal, tip = root + body.lengths[f] * normal;
      for (int k = 0; k < 3; ++k) {
        low[f][k] = std::min(start[k], tip[k]), high[f][k] = std::max(start[k], tip[k]);
      }
      feelers[f] = {{start, normal}, inside, begin + f};
    }
    group.tree = Tree::build(low, high, kLeaf);
    for (const int f : group.tree.order) feelers_.push_back(feelers[f]);
    if (count > 0) {
      group.center = group.tree.nodes[0].box.center;
      group.radius = norm(group.tree.nodes[0].box.half);
      groups_.push_back(std::move(group));
    }
    lengths_.insert(lengths_.end(), body.lengths.begin(), body.lengths.end());
  }
}

Feelers::Geom Feelers::describe(const mjModel& m, int id) {
  if (const auto known = geoms_.find(id); known != geoms_.end()) return known->second;
  Geom& geom = geoms_[id];
  const int data = m.geom_dataid[id];
  const Vec3 s = vec3(m.geom_size + 3 * id);
  geom.type = m.geom_type[id];
  geom.size = s;
  switch (geom.type) {
    case mjGEOM_PLANE: geom.bounds.half = {kInfinity, kInfinity, kInfinity}, geom.radius = kInfinity; break;
    case mjGEOM_SPHERE: geom.bounds.half = {s.x, s.x, s.x}, geom.radius = s.x; break;
    case mjGEOM_CAPSULE: geom.bounds.half = {s.x, s.x, s.y + s.x}, geom.radius = s.y + s.x; break;
    case mjGEOM_ELLIPSOID: geom.bounds.half = s, geom.radius = std::max({s.x, s.y, s.z}); break;
    case mjGEOM_CYLINDER: geom.bounds.half = {s.x, s.x, s.y}, geom.radius = std::hypot(s.x, s.y); break;
    case mjGEOM_HFIELD: {
      geom.field = &fields_.try_emplace(data, m, data).first->second;
      const double *size = geom.field->size, up = size[2], down = size[3];
      geom.bounds = {{0.0, 0.0, 0.5 * (up - down)}, {size[0], size[1], 0.5 * (up + down)}};
      geom.radius = norm({size[0], size[1], std::max(up, down)});
      break;
    }
    case mjGEOM_MESH:
    case mjGEOM_SDF:
      geom.mesh = &meshes_.try_emplace(data, m, data).first->second;
      geom.bounds = geom.mesh->bounds(), geom.radius = geom.mesh->radius();
      break;
    default: geom.bounds.half = s, geom.radius = norm(s); break;
  }
  return geom;
}

// Return how far a ray into the body travels until it leaves the last of the overlapping geoms. Where the body
// is thicker than `depth`, the result is at least `depth`. A mesh ends at the next triangle; if there is none,
// as on a sheet, the thickness is 0. A height field counts as a solid box.
double Feelers::thickness(const mjModel& m, int body, const Ray& inward, double depth) const {
  const auto rest_of = [&](int id, double from) {
    const Geom& geom = geoms_.at(id);
    const Pose pose = geom_in_body(m, id);
    Ray ray{pose.into(inward.start + from * inward.direction - pose.origin), pose.into(inward.direction)};
    if (geom.mesh) {
      const Mesh::Crossing crossing = geom.mesh->cross(ray, kInfinity, true);
      const bool starts_inside = crossing.turns != 0 || !geom.mesh->closed();
      return crossing.distance < kInfinity && starts_inside ? crossing.distance : 0.0;
    }
    if (geom.field) ray.start = ray.start - geom.bounds.center;
    const Interval solid =
        geom.field ? intersect_box(ray, geom.bounds.half) : intersect(geom.type, ray, geom.size);
    return solid.enter <= 0.0 && 0.0 < solid.leave ? solid.leave : 0.0;
  };
  double thick = 0.0;
  for (bool deeper = true; deeper && thick < depth;) {
    deeper = false;
    const double from = thick + kJust * depth;
    for (int g = 0; g < m.body_geomnum[body]; ++g) {
      const double rest = rest_of(m.body_geomadr[body] + g, from);
      if (rest > 0.0) thick = std::max(thick, from + rest), deeper = true;
    }
  }
  return thick;
}

void Feelers::read(const mjModel& model, const Poses& poses, double* out) const {
  std::copy(lengths_.begin(), lengths_.end(), out);
  for (const Group& group : groups_) {
    const Pose body = Pose::from(poses.xmat + 9 * group.body, poses.xpos + 3 * group.body);
    const Vec3 center = body.origin + body.out_of(group.center);
    for (const int id : group.obstacles) {
      const Geom& geom = geoms_.at(id);
      const Pose place = Pose::from(poses.geom_xmat + 9 * id, poses.geom_xpos + 3 * id);
      const Vec3 away = center - place.origin;
      const double reach = group.radius + geom.radius;
      const bool far = geom.type == mjGEOM_PLANE ? dot(away, place.z) > group.radius : dot(away, away) > reach * reach;
      if (far) continue;
      const Pose pose{body.into(place.x), body.into(place.y), body.into(place.z),
                      body.into(place.origin - body.origin)};
      cover(group, geom, pose, model.hfield_data, out);
    }
  }
}

// Shorten the free lengths of a body's feelers where a geom, with this pose in the body's frame, covers them.
void Feelers::cover(const Group& group, const Geom& geom, const Pose& pose, const float* heights,
                    double* out) const {
  const Vec3 axes[3] = {pose.x, pose.y, pose.z};
  // Only the axes of the geom are tested, so the result may be false although the boxes do not touch.
  const auto apart = [&](const Box& box) {
    const Vec3 off = box.center - pose.origin;
    for (int k = geom.type == mjGEOM_PLANE ? 2 : 0; k < 3; ++k) {
      const Vec3& a = axes[k];
      const double extent =
          std::abs(a.x) * box.half.x + std::abs(a.y) * box.half.y + std::abs(a.z) * box.half.z;
      if (geom.type == mjGEOM_PLANE) return dot(off, a) > extent;
      if (std::abs(dot(off, a) - geom.bounds.center[k]) > extent + geom.bounds.half[k]) return true;
    }
    return false;
  };
  const std::vector<Tree::Node>& nodes = group.tree.nodes;
  for (size_t n = 0; n < nodes.size();) {
    if (apart(nodes[n].box)) {
      n = nodes[n].skip;
      continue;
    }
    for (int f = nodes[n].begin; f < nodes[n].end; ++f) {
      const Feeler& feeler = feelers_[group.first + f];
      double& free = out[feeler.index];
      const double reach = feeler.inside + free;
      Ray ray{feeler.ray.start - pose.origin, feeler.ray.direction};
      if (free <= 0.0 || misses_sphere(ray, reach, geom.radius)) continue;
      ray = {pose.into(ray.start), pose.into(ray.direction)};
      double distance;
      if (geom.field) {
        distance = geom.field->hit(ray, heights, reach);
      } else if (geom.mesh) {
        distance = geom.mesh->hit(ray, reach);
      } else {
        const Interval solid = intersect(geom.type, ray, geom.size);
        distance = solid.leave > 0.0 ? std::max(solid.enter, 0.0) : kInfinity;
      }
      if (distance < reach) free = std::max(distance - feeler.inside, 0.0);
    }
    ++n;
  }
}

}  // namespace tactile

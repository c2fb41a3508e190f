#include <algorithm>
#include <cmath>

#include "tactile/skin.h"

namespace tactile {

namespace {

constexpr double kStraight = 1e-3;  // smaller curvatures, relative to the bounding sphere's, count as zero
constexpr double kOnCap = 0.1;  // a contact is on a capsule's end if its normal's part along the axis exceeds this

// The symmetric curvature tensor along two tangents [1/m].
struct Curvature {
  double xx = 0.0, xy = 0.0, yy = 0.0;
};

// The curvature of a geom where its surface has this normal (in the world, up to its sign).
Curvature curvature(const SkinGeom& geom, const Mat3& body, const Vec3 frame[3]) {
  if (geom.kind == SkinGeom::kFlat) return {};
  const double weight = 1.0 / geom.size.x;
  if (geom.kind == SkinGeom::kSphere) return {weight, 0.0, weight};
  const auto local = [&](const Vec3& v) { return geom.rotation.transposed(body.transposed(v)); };
  const Vec3 n = local(frame[0]), x = local(frame[1]), y = local(frame[2]);
  const bool cylinder = geom.kind == SkinGeom::kCylinder, ellipsoid = geom.kind == SkinGeom::kEllipsoid;
  if (cylinder && n.z * n.z > 0.5) return {};  // one of its flat ends
  const bool straight = cylinder || (geom.kind == SkinGeom::kCapsule && std::abs(n.z) <= kOnCap);
  const Vec3 scaled{geom.size.x * n.x, geom.size.y * n.y, geom.size.z * n.z};
  Curvature sum;
  for (int axis = 0; axis < (straight ? 2 : 3); ++axis) {
    // Of the implicit surface sum (x/a)^2 = 1: the Hessian divided by the length of the gradient, at the point
    // x = a^2 n / s, s = |a n|, where the normal is n.
    const double part = ellipsoid ? norm(scaled) / (geom.size[axis] * geom.size[axis]) : weight;
    sum.xx += part * x[axis] * x[axis];
    sum.xy += part * x[axis] * y[axis];
    sum.yy += part * y[axis] * y[axis];
  }
  return sum;
}

// Write the id, body and pose of the other geom into a load on a body; a flex (-1) has none.
void place_other(Load& load, const std::vector<SkinGeom>& geoms, int other, int64_t body, const BodyPoses& poses) {
  load.other = other;
  if (other < 0) return;
  const SkinGeom& geom = geoms[other];
  load.other_body = geom.body;
  const Mat3 &here = poses.rotations[body], &there = poses.rotations[geom.body];
  load.other_position =
      here.transposed(poses.positions[geom.body] - poses.positions[body] + there * geom.position);
  for (int j = 0; j < 3; ++j) {
    const Vec3 axis = here.transposed(there * Vec3{geom.rotation.row[0][j], geom.rotation.row[1][j],
                                                   geom.rotation.row[2][j]});
    for (int i = 0; i < 3; ++i) load.other_rotation.row[i][j] = axis[i];
  }
}

// Barycentric coordinates of a point of a triangle, and its squared distance from another point [m2].
struct Closest {
  double square, weights[3];
};

Closest closest_point(const Vec3& point, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 u = b - a, v = c - a, w = point - a;
  const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), uw = dot(u, w), vw = dot(v, w);
  const double area = uu * vv - uv * uv;
  double s = 0.0, t = 0.0;
  if (area > 0.0) s = (vv * uw - uv * vw) / area, t = (uu * vw - uv * uw) / area;
  if (area <= 0.0 || s < 0.0 || t < 0.0 || s + t > 1.0) {  // it is on an edge
    double least = kInfinity;
    const Vec3 edges[3] = {u, v, c - b};
    for (int edge = 0; edge < 3; ++edge) {
      const Vec3 &start = edge < 2 ? a : b, &along = edges[edge];
      const double length = dot(along, along);
      const double part = length > 0.0 ? std::min(std::max(dot(point - start, along) / length, 0.0), 1.0) : 0.0;
      const Vec3 away = start + part * along - point;
      if (dot(away, away) < least) {
        least = dot(away, away);
        s = edge == 0 ? part : edge == 1 ? 0.0 : 1.0 - part;
        t = edge == 0 ? 0.0 : part;
      }
    }
  }
  const Vec3 away = a + s * u + t * v - point;
  return {dot(away, away), {1.0 - s - t, s, t}};
}

}  // namespace

void move_to_rest(Range<Contact> contacts, const std::array<int64_t, 4>* touching, double sign,
                  const FlexSurface& flex) {
  for (size_t c = 0; c < contacts.size(); ++c) {
    Contact& contact = contacts[c];
    const Vec3 offset = 0.5 * contact.distance * sign * contact.frame[0];
    Closest best{kInfinity, {}};
    int64_t found = -1;
    const auto try_triangle = [&](int64_t triangle) {
      const auto& [i, j, k] = flex.corners[triangle];
      const Closest own = closest_point(contact.position + offset, flex.present[i], flex.present[j], flex.present[k]);
      if (own.square < best.square) best = own, found = triangle;
    };
    for (const int64_t vertex : touching[c]) {
      if (vertex < 0) continue;
      for (int64_t e = flex.begin[vertex]; e < flex.begin[vertex + 1]; ++e) try_triangle(flex.near[e]);
    }
    if (found < 0) {  // the element has no vertex on the surface
      for (size_t t = 0; t < flex.corners.size(); ++t) try_triangle(static_cast<int64_t>(t));
    }
    if (found < 0) continue;
    Vec3 place;
    for (int k = 0; k < 3; ++k) place = place + best.weights[k] * flex.rest[flex.corners[found][k]];
    contact.position = flex.position - offset + flex.rotation * place;
  }
}

TouchCenter center_of_touch(Range<const Contact> contacts, const ContactIds* ids, int body, const BodyPoses& poses) {
  TouchCenter out;
  for (size_t c = 0; c < contacts.size(); ++c) {
    const bool first = ids[c].body[0] == body;
    if (!first && ids[c].body[1] != body) continue;
    const double weight = std::abs(contacts[c].local_force.x);
    out.force += weight;
    out.position = out.position + weight * (contacts[c].position - poses.positions[body]);
    // The contact's normal points from the first body to the second.
    out.normal = out.normal + (first ? weight : -weight) * contacts[c].frame[0];
  }
  if (out.force == 0.0) return {};
  const double length = norm(out.normal);
  out.position = (1.0 / out.force) * poses.rotations[body].transposed(out.position);
  out.normal = length > 0.0 ? (1.0 / length) * poses.rotations[body].transposed(out.normal) : Vec3{};
  return out;
}

void Arrows::add(const Vec3& start, const Vec3& force, Kind kind, size_t source) {
  constexpr double least = 1e-4;  // [m]
  const Vec3 vector = scale * force;
  if (!(norm(vector) > least)) return;
  points.push_back(start), points.push_back(start + vector);
  kinds.push_back(kind), sources.push_back(static_cast<int64_t>(source));
}

void Arrows::add_contacts(Range<const Contact> contacts, bool tangents) {
  for (size_t c = 0; c < contacts.size(); ++c) {
    const Contact& own = contacts[c];
    const Vec3 first = own.local_force.y * own.frame[1], second = own.local_force.z * own.frame[2];
    add(own.position, own.local_force.x * own.frame[0], kNormal, c);
    if (tangents) {
      add(own.position, first, kTangent1, c), add(own.position, second, kTangent2, c);
    } else {
      add(own.position, first + second, kFriction, c);
    }
  }
}

void Arrows::limit(double length) {
  double longest = 0.0;
  for (size_t k = 0; k < points.size(); k += 2) longest = std::max(longest, norm(points[k + 1] - points[k]));
  if (!(longest > length)) return;
  for (size_t k = 0; k < points.size(); k += 2) {
    points[k + 1] = points[k] + (length / longest) * (points[k + 1] - points[k]);
  }
}

double effective_radius(const std::vector<SkinGeom>& geoms, int first, int second, const Vec3 frame[3],
                        const Mat3* rotations) {
  Curvature sum;
  double least = 0.0;  // curvature of the smaller bounding sphere
  for (const int g : {first, second}) {
    if (g < 0) continue;
    const Curvature own = curvature(geoms[g], rotations[geoms[g].body], frame);
    sum = {sum.xx + own.xx, sum.xy + own.xy, sum.yy + own.yy};
    least = std::max(least, 1.0 / geoms[g].bound);
  }
  const double mean = 0.5 * (sum.xx + sum.yy), half = 0.5 * (sum.xx - sum.yy);
  const double apart = std::sqrt(half * half + sum.xy * sum.xy);
  const auto bent = [&](double k) { return k > kStraight * least ? k : least; };
  return 1.0 / std::sqrt(bent(mean + apart) * bent(mean - apart));
}

void resolve_loads(Range<const Contact> contacts, const ContactIds* ids, const std::vector<SkinGeom>& geoms,
                   const std::vector<int64_t>& patch_bodies, const BodyPoses& poses, std::vector<Load>& loads) {
  for (size_t c = 0; c < contacts.size(); ++c) {
    const Contact& contact = contacts[c];
    double radius = -1.0;
    for (int side = 0; side < 2; ++side) {
      const int id = ids[c].geom[side], other = ids[c].geom[1 - side];
      if (id < 0 || geoms[id].patch < 0) continue;
      if (radius < 0.0) radius = effective_radius(geoms, id, other, contact.frame, poses.rotations);
      // The normal points from object 1 to object 2, out of 1 and into 2. The position is midway between the
      // surfaces: along the normal, the surface of 2 is half the distance ahead and that of 1 half the distance
      // behind. In penetration the distance is negative, and the order is reversed.
      const double sign = side == 1 ? 1.0 : -1.0, half = 0.5 * contact.distance * sign;
      const int64_t body = geoms[id].body;
      const Mat3& rotation = poses.rotations[body];
      Load& load = loads.emplace_back();
      load.contact = static_cast<int64_t>(c);
      load.patch = geoms[id].patch;
      load.body = patch_bodies[load.patch];
      load.other_patch = other >= 0 ? geoms[other].patch : -1;
      load.radius = radius, load.friction = contact.friction;
      load.rotation = rotation;
      load.point =
          rotation.transposed(contact.position + half * contact.frame[0] - poses.positions[body]);
      load.force_world = sign * contact.force;
      load.force = sign * rotation.transposed(contact.force);
      load.normal = sign * rotation.transposed(contact.frame[0]);
      // A contact has the velocity of object 2 relative to 1, a load that of the other surface.
      load.velocity = -sign * rotation.transposed(contact.velocity);
      load.angular_velocity = -sign * rotation.transposed(contact.angular_velocity);
      place_other(load, geoms, other, body, poses);
      // The torque is about the point on the surface, not about the contact's position.
      load.torque = sign * rotation.transposed(contact.torque) + cross(-half * sign * load.normal, load.force);
    }
  }
}

void evaluate(const Load& load, Quantity quantity, double* out) {
  const Vec3& vector = quantity == Quantity::kSlip ? load.velocity : load.force;
  const double along = dot(vector, load.normal);
  Vec3 value;
  switch (quantity) {
    case Quantity::kNormal: *out = along; return;
    case Quantity::kNormalForce: value = along * load.normal; break;
    case Quantity::kForceVector: value = load.force; break;
    case Quantity::kForceVectorGlobal: value = load.force_world; break;
    default: value = vector - along * load.normal; break;
  }
  for (int i = 0; i < 3; ++i) out[i] = value[i];
}

}  // namespace tactile

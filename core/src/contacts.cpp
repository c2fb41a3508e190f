#include "tactile/contacts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tactile {

namespace {

// Magnitude below which a force component is negligible [N].
constexpr double kForceFloor = 1e-9;

double square(const Vec3& v) { return v.x * v.x + v.y * v.y + v.z * v.z; }

// The world's components of a vector given along three axes.
Vec3 combine(const Vec3& v, const Vec3& a, const Vec3& b, const Vec3& c) { return v.x * a + v.y * b + v.z * c; }

// The force and torque of a contact along its frame (mju_decodePyramid).
void decode(const mjContact& contact, const double* force, bool elliptic, double wrench[6]) {
  std::fill(wrench, wrench + 6, 0.0);
  if (contact.dim == 1 || elliptic) {
    std::copy(force, force + contact.dim, wrench);
    return;
  }
  // A pyramidal cone has two opposite edges for each tangential direction.
  for (int k = 0; k < contact.dim - 1; ++k) {
    const double up = force[2 * k], down = force[2 * k + 1];
    wrench[0] += up + down;
    wrench[k + 1] = (up - down) * contact.friction[k];
  }
}

}  // namespace

bool complete(Contact& contact, ContactIds& ids, const BodyMotion& motion) {
  double largest = std::abs(contact.local_force.x);
  for (int k = 1; k < 3; ++k) {  // keeps a NaN
    if (std::abs(contact.local_force[k]) > largest) largest = std::abs(contact.local_force[k]);
  }
  if (largest < kForceFloor) return false;
  const Vec3* f = contact.frame;
  contact.force = combine(contact.local_force, f[0], f[1], f[2]);
  contact.torque = combine(contact.local_torque, f[0], f[1], f[2]);
  contact.velocity = contact.angular_velocity = {};
  for (int side = 0; side < 2; ++side) {
    const int geom = ids.geom[side];
    if (geom < 0) {  // the surface of a flex does not move with a single body
      constexpr double nan = std::numeric_limits<double>::quiet_NaN();
      ids.body[side] = -1;
      contact.velocity = contact.angular_velocity = {nan, nan, nan};
      continue;
    }
    const int body = ids.body[side] = motion.geom_body[geom];
    const double sign = side == 1 ? 1.0 : -1.0;
    const Vec3 arm = contact.position - vec3(motion.com + 3 * motion.root[body]);
    const Vec3 turn = vec3(motion.twist + 6 * body), linear = vec3(motion.twist + 6 * body + 3);
    const Vec3 velocity = {linear.x + turn.y * arm.z - turn.z * arm.y, linear.y + turn.z * arm.x - turn.x * arm.z,
                           linear.z + turn.x * arm.y - turn.y * arm.x};
    contact.velocity = contact.velocity + sign * velocity;
    contact.angular_velocity = contact.angular_velocity + sign * turn;
  }
  return true;
}

int read_contacts(const mjModel& model, const mjData& data, Contact* contacts, ContactIds* ids) {
  const BodyMotion motion{model.geom_bodyid, model.body_rootid, data.cvel, data.subtree_com};
  const bool elliptic = model.opt.cone == mjCONE_ELLIPTIC;
  int count = 0;
  for (int c = 0; c < data.ncon; ++c) {
    const mjContact& own = data.contact[c];
    if (own.efc_address < 0) continue;
    Contact& out = contacts[count];
    double wrench[6];
    decode(own, data.efc_force + own.efc_address, elliptic, wrench);
    out.local_force = vec3(wrench), out.local_torque = vec3(wrench + 3);
    out.position = vec3(own.pos);
    for (int axis = 0; axis < 3; ++axis) out.frame[axis] = vec3(own.frame + 3 * axis);
    out.distance = own.dist;
    out.friction = own.dim > 1 ? own.friction[0] : 0.0;
    ids[count] = {{-1, -1}, {own.geom[0], own.geom[1]}, c};
    count += complete(out, ids[count], motion);
  }
  return count;
}

int64_t touching(const bool* sensing, int bodies, const Contact* contacts, const ContactIds* ids, int64_t count,
                 Contact* out, ContactIds* out_ids) {
  int64_t found = 0;
  const auto senses = [&](int body) { return sensing[body < 0 ? bodies : body]; };
  for (int64_t c = 0; c < count; ++c) {
    const bool first = senses(ids[c].body[0]), second = senses(ids[c].body[1]);
    if (!(first || second)) continue;
    Contact& own = out[found] = contacts[c];
    ContactIds& own_ids = out_ids[found++] = ids[c];
    if (!first || second) continue;
    std::swap(own_ids.body[0], own_ids.body[1]);
    std::swap(own_ids.geom[0], own_ids.geom[1]);
    for (Vec3* vector : {&own.frame[0], &own.frame[2], &own.force, &own.torque, &own.velocity, &own.angular_velocity})
      *vector = {-vector->x, -vector->y, -vector->z};
    // The negated wrench along negated axes: only components along the first tangent change sign.
    own.local_force.y = -own.local_force.y;
    own.local_torque.y = -own.local_torque.y;
  }
  return found;
}

int read_sensor(const double* sensordata, const SensorColumns& columns, SensorSlot* slots) {
  const double* raw = sensordata + columns.address + 1;
  for (int64_t s = 0; s < columns.slots; ++s, raw += columns.stride) {
    SensorSlot& slot = slots[s];
    slot.force = vec3(raw), slot.torque = vec3(raw + 3), slot.distance = raw[6], slot.position = vec3(raw + 7);
    slot.normal = vec3(raw + 10), slot.tangent = vec3(raw + 13);
    const Vec3 across = cross(slot.normal, slot.tangent);
    slot.force_world = combine(slot.force, slot.normal, slot.tangent, across);
    slot.torque_world = combine(slot.torque, slot.normal, slot.tangent, across);
  }
  return static_cast<int>(sensordata[columns.address]);
}

double net_force(const double* sensordata, const SensorColumns& columns) {
  const double* raw = sensordata + columns.address + 1;
  const auto found = static_cast<int64_t>(sensordata[columns.address]);
  Vec3 sum;
  for (int64_t s = 0; s < std::min(columns.slots, found); ++s, raw += columns.stride) {
    const Vec3 normal = vec3(raw + 10), tangent = vec3(raw + 13);
    sum = sum + combine(vec3(raw), normal, tangent, cross(normal, tangent));
  }
  return norm(sum);
}

void read_motrix(const float* values, int64_t slots, bool flipped, std::vector<Contact>& contacts) {
  const auto* slot = reinterpret_cast<const MotrixSlot*>(values + 1);
  const auto as_vec3 = [](const float* p) { return Vec3{p[0], p[1], p[2]}; };
  for (int64_t s = 0; s < std::min(slots, static_cast<int64_t>(values[0])); ++s, ++slot) {
    Contact contact{};
    const auto unit = [](const Vec3& v) {
      const double length = norm(v);
      return Vec3{v.x / length, v.y / length, v.z / length};
    };
    const Vec3 normal = unit(as_vec3(slot->normal)), along = as_vec3(slot->tangent);
    const Vec3 tangent = unit(along - dot(normal, along) * normal);
    contact.frame[0] = normal, contact.frame[1] = tangent, contact.frame[2] = cross(normal, tangent);
    // Torques have the sign of the torque of geom 2 on geom 1. If a pair is in the opposite order to the engine's,
    // normal and tangent are negated, but the force along their product is not.
    for (int i = 0; i < 3; ++i) {
      const double sign = i == 2 && flipped ? -1.0 : 1.0;
      contact.local_force[i] = sign * slot->force[i];
      contact.local_torque[i] = -sign * slot->torque[i];
    }
    contact.distance = slot->distance;
    // motrixsim's position is on the surface of geom 1.
    contact.position = as_vec3(slot->position) + (0.5 * contact.distance) * normal;
    contacts.push_back(contact);
  }
}

namespace {

// The net force and torque of contacts, in the world frame. Their point of application is the force-weighted mean
// of the contact positions.
ReducedSlot sum(const Contact* contacts, const int64_t* signs, const std::vector<int64_t>& chosen) {
  ReducedSlot slot{};
  slot.found = static_cast<double>(chosen.size());
  slot.normal.x = slot.tangent.y = 1.0;
  double weights = 0.0;
  for (const int64_t c : chosen) {
    const double weight = norm(contacts[c].local_force);
    weights += weight;
    slot.position = slot.position + weight * contacts[c].position;
  }
  const double total = std::max(weights, 1e-15);
  slot.position = {slot.position.x / total, slot.position.y / total, slot.position.z / total};
  for (const int64_t c : chosen) {
    const Contact& own = contacts[c];
    const auto sign = static_cast<double>(signs[c]);
    const Vec3 force = combine(sign * own.local_force, own.frame[0], own.frame[1], own.frame[2]);
    for (int row = 0; row < 3; ++row) slot.torque = slot.torque + (sign * own.local_torque[row]) * own.frame[row];
    slot.force = slot.force + force;
    slot.torque = slot.torque + cross(own.position - slot.position, force);
  }
  return slot;
}

}  // namespace

void reduce(const Contact* contacts, const int64_t* signs, int64_t count, Reduction reduction, ReducedSlot* slots,
            int64_t slot_count) {
  std::vector<int64_t> chosen;
  for (int64_t c = 0; c < count; ++c) {
    if (signs[c]) chosen.push_back(c);
  }
  if (chosen.empty()) return;
  if (reduction == Reduction::kNetForce) {
    slots[0] = sum(contacts, signs, chosen);
    return;
  }
  const auto found = static_cast<int64_t>(chosen.size());
  const int64_t filled = std::min(found, slot_count);
  if (reduction != Reduction::kNone) {
    const auto key = [&](int64_t c) {
      return reduction == Reduction::kMinDist ? contacts[c].distance : -square(contacts[c].local_force);
    };
    std::partial_sort(chosen.begin(), chosen.begin() + filled, chosen.end(), [&](int64_t a, int64_t b) {
      return key(a) < key(b) || (key(a) == key(b) && a < b);
    });
  }
  for (int64_t s = 0; s < filled; ++s) {
    const Contact& own = contacts[chosen[s]];
    const auto sign = static_cast<double>(signs[chosen[s]]);
    ReducedSlot& slot = slots[s];
    slot = {static_cast<double>(found), own.local_force, own.local_torque, own.distance,
            own.position, sign * own.frame[0], sign * own.frame[1]};
    // In the opposite order, the normal and the first tangent are negated.
    slot.force.z *= sign;
    slot.torque.z *= sign;
  }
}

}  // namespace tactile

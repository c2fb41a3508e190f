// Contacts that carry a force, from MuJoCo or from arrays of another engine, and readings of contact sensors.
#pragma once

#include <mujoco/mujoco.h>

#include <cstdint>
#include <vector>

#include "tactile/geometry.h"

namespace tactile {

// A contact as in `engines.Contacts.values`; object 1 is the first geom and object 2 the second.
struct Contact {
  Vec3 position;                      // midway between the surfaces, in the world [m]
  Vec3 frame[3];                      // normal from object 1 to object 2 and two tangents, in the world
  double distance;                    // between the surfaces, negative if they penetrate [m]
  Vec3 force, torque;                 // on object 2, about `position`, in the world [N, N m]
  Vec3 local_force, local_torque;     // the same along `frame`
  Vec3 velocity, angular_velocity;    // of object 2 relative to object 1, in the world [m/s, rad/s]
  double friction;                    // coefficient of sliding friction
};
static_assert(sizeof(Contact) == 32 * sizeof(double));

// The bodies and geoms of a contact as in `engines.Contacts.ids`; -1 for a flex.
struct ContactIds {
  int32_t body[2], geom[2], index;
};
static_assert(sizeof(ContactIds) == 5 * sizeof(int32_t));

// The bodies of a scene and their motion, as in mjModel and mjData.
struct BodyMotion {
  const int* geom_body;
  const int* root;      // root body of each body
  const double* twist;  // `cvel`: angular and linear velocity of each body, at the center of mass of its tree
  const double* com;    // `subtree_com`
};

// Complete a contact whose position, frame, distance, local wrench, friction, geoms and index are set. Return
// false, and leave the rest undefined, if all its force components are negligible.
bool complete(Contact& contact, ContactIds& ids, const BodyMotion& motion);

// Write the contacts of mjData that carry a force, and return their number. There must be room for all contacts.
int read_contacts(const mjModel& model, const mjData& data, Contact* contacts, ContactIds* ids);

// Copy the contacts that involve sensing bodies, and return their number; if only one body is sensing, it becomes
// object 2. `sensing` has an entry for each body, and a last one for flexes.
int64_t touching(const bool* sensing, int bodies, const Contact* contacts, const ContactIds* ids, int64_t count,
                 Contact* out, ContactIds* out_ids);

// -- MuJoCo's contact sensors ----------------------------------------------------------------------------------

// A slot of a contact sensor as in `ContactSensor.values`.
struct SensorSlot {
  Vec3 force, torque;              // on object 2 along normal, tangent and normal x tangent [N, N m]
  Vec3 force_world, torque_world;  // the same in the world
  double distance;                 // [m]
  Vec3 position, normal, tangent;  // in the world
};
static_assert(sizeof(SensorSlot) == 22 * sizeof(double));

// Where a contact sensor with all fields is in a row of `sensordata`: its first column, values per slot, slots.
struct SensorColumns {
  int64_t address, stride, slots;
};

// Write the slots of a sensor, and return the number of matching contacts, which may exceed that of the slots.
int read_sensor(const double* sensordata, const SensorColumns& columns, SensorSlot* slots);

// The magnitude of the sum of the forces in all filled slots of a sensor [N].
double net_force(const double* sensordata, const SensorColumns& columns);

// -- contacts and contact sensors of motrixsim -----------------------------------------------------------------

// A contact in the values of a motrixsim contact sensor.
struct MotrixSlot {
  float force[3], torque[3], distance, position[3], normal[3], tangent[3];
};

// Append the contacts in the values of a sensor, which start with the number of contacts. In contrast to
// motrixsim's values, positions are midway between the surfaces, frames are right-handed and orthonormal in double
// precision, and the signs of local wrenches match the frames. `flipped`: motrixsim's order of the two geoms is
// opposite. Sets position, frame, distance and local wrench.
void read_motrix(const float* values, int64_t slots, bool flipped, std::vector<Contact>& contacts);

// How a contact sensor chooses among its contacts; numbered as in MuJoCo.
enum class Reduction { kNone, kMinDist, kMaxForce, kNetForce };

// Fields of a slot of a contact sensor in MuJoCo's order.
struct ReducedSlot {
  double found;
  Vec3 force, torque;
  double distance;
  Vec3 position, normal, tangent;
};
static_assert(sizeof(ReducedSlot) == 17 * sizeof(double));

// Select or sum the contacts of one environment that match a sensor. `signs`: 1, -1 (matches with the objects in
// the opposite order) or 0 (does not match). Empty slots are left unchanged.
void reduce(const Contact* contacts, const int64_t* signs, int64_t count, Reduction reduction, ReducedSlot* slots,
            int64_t slot_count);

}  // namespace tactile

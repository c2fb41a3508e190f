// Readings of a skin: quantities of loads, summed up by taxel.
#pragma once

#include <cstdint>
#include <vector>

#include "tactile/elastic.h"
#include "tactile/skin.h"

namespace tactile {

// What the readings are and how loads are distributed.
struct Function {
  Quantity quantity = Quantity::kForceVector;
  Law law = Law::kElastic;
  bool mean = false;                // means weighted by normal force instead of sums
  bool in_taxel_axes = false;       // components along each taxel's tangents and inward normal; needs 3 channels
  std::vector<double> factors = {};  // of each taxel's readings; empty for 1
};

// Memory of one thread, which grows on first use.
struct SkinScratch {
  std::vector<Contact> contacts;
  std::vector<ContactIds> ids;
  Search search;
  ElasticScratch elastic;
  Sums sums;
  std::vector<Load> loads;
  std::vector<int64_t> group, taxel, touched;
  std::vector<double> weight;
  std::vector<char> inside;
};

// Contacts and poses of n environments with up to `capacity` contacts each.
struct ManyContacts {
  const int32_t* counts;
  const Contact* contacts;  // (n, capacity)
  const ContactIds* ids;
  size_t capacity;
  const Vec3* positions;  // (n, bodies)
  const Mat3* rotations;
  size_t bodies;
};

// Readings of n environments, which start as zeros and are written in place.
struct ManyReadings {
  double* taxels;           // (n, taxels, channels)
  int32_t* touched;         // (n, taxels) indices of the taxels whose readings are not 0
  int32_t* touched_counts;  // (n,)
  double* wrenches;         // (n, bodies with skin, 6)
};

// A skin in a scene. Its methods do not change it, so threads can share it if each has its own scratch memory.
struct Skin {
  Taxels taxels;
  Elastic elastic;
  std::vector<Mat3> axes;  // of the taxels: two tangents and the outward normal
  std::vector<SkinGeom> geoms;
  std::vector<int64_t> patch_bodies;  // index of each patch's body among those with skin
  std::vector<int64_t> slots;         // index of each body of the scene among those with skin, or -1
  size_t bodies = 0;                  // number of bodies with skin

  // Throw std::invalid_argument if the arrays do not fit each other or refer to items that do not exist.
  void check() const;
  // Whether a function can be used for readings with this number of channels.
  bool fits(const Function& function, int channels) const;
  // Write the readings (taxels, channels) due to contacts to `out`, which contains zeros, and the taxels whose
  // readings were written to `scratch.touched`.
  template <class T>
  void read(Range<const Contact> contacts, const ContactIds* ids, const BodyPoses& poses, const Function& function,
            SkinScratch& scratch, T* out) const;
  // Write the readings and wrenches of environments [first, last).
  void read_environments(const ManyContacts& contacts, size_t first, size_t last, const Function& function,
                         SkinScratch& scratch, const ManyReadings& out) const;
  // Write the sums of touched taxels to the readings, and clear them.
  template <class T>
  void write(const Function& function, Sums& sums, T* out) const;

  // Whether a taxel receives each load, or whether it is outside the pads. With `paired`, the loads between two
  // surfaces are tested together at their center, because a flat contact has its points at its corners.
  void mark_inside(Range<const Load> loads, bool paired, char* inside) const;
  // Add the net contact wrench of each body with skin about its origin, in its frame, to `out` (bodies, 6).
  void net_wrenches(Range<const Contact> contacts, const ContactIds* ids, const BodyPoses& poses, double* out) const;
  // Add the values of `scratch.loads` to the sums of the taxels that receive them.
  void add_loads(const Function& function, SkinScratch& scratch) const;
};

// State of a pad's contact, in the frame of its body; without contact, the center is NaN and all else is 0.
struct PadContact {
  double normal_force = 0.0;  // [N]
  Vec3 center;                // of pressure [m]
  Vec3 normal;                // out of the body
  double area = 0.0;          // of the pressed taxels [m2]
  Vec3 force, torque;         // torque about the center [N, N m]
  double friction_utilization = 0.0;
  Vec3 slip_velocity;  // mean, weighted by normal force [m/s]
};
static_assert(sizeof(PadContact) == 18 * sizeof(double));

// Quantities of a taxel that `pad_contact` reduces.
struct TaxelContact {
  Vec3 force, pressing;             // and its component along the contact normal [N]
  double normal, shear, capacity;   // magnitudes of normal and tangential force, and the friction limit [N]
  Vec3 slip;                        // velocity times normal force
};
static_assert(sizeof(TaxelContact) == 12 * sizeof(double));

// Debounced contact state of a pad.
struct ContactState {
  double raw = 0.0, contact = 0.0;  // whether the force is at least the threshold `on`, and whether in contact: 0 or 1
  double since = 0.0;               // time of the last change of `contact` [s]
  double pending = kInfinity;       // time at which the force crossed the threshold of a pending change [s]
};

// Normal forces at which contact begins and ends [N], and for how long they must last [s].
struct ContactThresholds {
  double on, off, on_time, off_time;
};

// The state after a sample of the normal force [N].
ContactState advance(const ContactState& state, double time, double normal_force, const ContactThresholds& limits);

PadContact pad_contact(Range<const TaxelContact> taxels, const Vec3* positions, const double* areas);

}  // namespace tactile

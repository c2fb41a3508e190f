// Vectors, rotations and trees of bounding boxes.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace tactile {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Vec3 {
  double x = 0.0, y = 0.0, z = 0.0;

  double& operator[](int k) { return (&x)[k]; }
  double operator[](int k) const { return (&x)[k]; }
};

inline Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator*(double s, const Vec3& a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline double norm(const Vec3& a) { return std::sqrt(dot(a, a)); }
inline Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

inline Vec3 vec3(const double* p) { return {p[0], p[1], p[2]}; }

// A matrix, row by row.
struct Mat3 {
  Vec3 row[3];

  // The product with a vector: its components along the rows.
  Vec3 operator*(const Vec3& v) const { return {dot(row[0], v), dot(row[1], v), dot(row[2], v)}; }
  // The product of the transposed matrix with a vector.
  Vec3 transposed(const Vec3& v) const { return v.x * row[0] + v.y * row[1] + v.z * row[2]; }
};

// A frame in another frame: the axes of the frame and its origin [m].
struct Pose {
  Vec3 x, y, z, origin;

  // From a rotation matrix (9 numbers, row by row) and a position, as in mjData.
  static Pose from(const double* rotation, const double* position) {
    const double* r = rotation;
    return {{r[0], r[3], r[6]}, {r[1], r[4], r[7]}, {r[2], r[5], r[8]}, vec3(position)};
  }
  // Components along the axes of a vector given in the other frame.
  Vec3 into(const Vec3& v) const { return {dot(v, x), dot(v, y), dot(v, z)}; }
  // The other frame's components of a vector given along the axes.
  Vec3 out_of(const Vec3& v) const { return v.x * x + v.y * y + v.z * z; }
};

// An axis-aligned box: center and half sizes [m].
struct Box {
  Vec3 center, half;
};

// A tree of boxes around items. Its nodes are in depth-first order, so a node's subtree follows it. To visit
// nearby items, go through the nodes in order, and continue at `skip` of a node that is too far away.
struct Tree {
  struct Node {
    Box box;
    int skip;        // next node outside the subtree
    int begin, end;  // range of items in `order`; empty unless the node is a leaf
  };
  std::vector<Node> nodes;
  std::vector<int> order;  // indices of the items, leaf by leaf

  // Build a tree over the boxes from low[i] to high[i], with at most `leaf` items in a leaf.
  static Tree build(const std::vector<Vec3>& low, const std::vector<Vec3>& high, int leaf);
};

// Margin by which boxes are enlarged to allow for rounding errors [m].
constexpr double kPad = 1e-9;

}  // namespace tactile

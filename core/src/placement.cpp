#include "tactile/placement.h"

#include <algorithm>
#include <numeric>

namespace tactile {

Grid::Grid(const Vec3* points, int64_t count, double smallest) : cell(smallest) {
  Vec3 extent;
  for (int k = 0; k < 3; ++k) {
    double low = points[0][k], high = points[0][k];
    for (int64_t p = 1; p < count; ++p) low = std::min(low, points[p][k]), high = std::max(high, points[p][k]);
    corner[k] = low, extent[k] = high - low;
  }
  double cells = 1.0;
  for (int k = 0; k < 3; ++k) cells *= extent[k] / smallest + 1.0;
  while (cells > 2.0 * count + 64.0) {
    cell *= 1.25;
    cells = 1.0;
    for (int k = 0; k < 3; ++k) cells *= std::floor(extent[k] / cell) + 1.0;
  }
  for (int k = 0; k < 3; ++k) shape[k] = static_cast<int64_t>(extent[k] / cell) + 1;
  first.assign(shape[0] * shape[1] * shape[2] + 1, 0);
  std::vector<int64_t> where(count);
  for (int64_t p = 0; p < count; ++p) {
    where[p] = (index(points[p], 0) * shape[1] + index(points[p], 1)) * shape[2] + index(points[p], 2);
    ++first[where[p] + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  order.resize(count);
  std::vector<int64_t> filled(first);
  for (int64_t p = 0; p < count; ++p) order[filled[where[p]]++] = p;
}

double Polytope::depth(const Vec3& p) const {
  double least = kInfinity;
  for (int64_t h = 0; h < count; ++h) {
    const Vec3& n = normals[h];
    least = std::min(least, offsets[h] - n.x * p.x - n.y * p.y - n.z * p.z);
  }
  return least;
}

Vec3 Polytope::normal(const Vec3& p, double blur, std::vector<double>& depths) const {
  depths.resize(count);
  for (int64_t h = 0; h < count; ++h) {
    const Vec3& n = normals[h];
    depths[h] = offsets[h] - n.x * p.x - n.y * p.y - n.z * p.z;
  }
  const int64_t nearest = std::min_element(depths.begin(), depths.end()) - depths.begin();
  Vec3 sum;
  for (int64_t h = 0; h < count; ++h) {
    if (depths[h] <= depths[nearest] + blur) sum = sum + normals[h];
  }
  // If a geom is thinner than the blur, the planes on the other side are included and can dominate.
  return dot(sum, normals[nearest]) > 0.0 ? sum : normals[nearest];
}

Vec3 Polytope::onto(Vec3 p, const Vec3& middle) const {
  // Take a few steps onto the nearest or most exceeded plane, then project exactly along the ray.
  for (int step = 0; step < 4; ++step) {
    double least = kInfinity;
    int64_t plane = 0;
    for (int64_t h = 0; h < count; ++h) {
      const Vec3& n = normals[h];
      const double depth = offsets[h] - n.x * p.x - n.y * p.y - n.z * p.z;
      if (depth < least) least = depth, plane = h;
    }
    p = p + least * normals[plane];
  }
  double stretch = 0.0;
  const Vec3 ray = p - middle;
  for (int64_t h = 0; h < count; ++h) {
    const Vec3& n = normals[h];
    const double reach = offsets[h] - n.x * middle.x - n.y * middle.y - n.z * middle.z;
    stretch = std::max(stretch, dot(n, ray) / reach);
  }
  return middle + Vec3{ray.x / stretch, ray.y / stretch, ray.z / stretch};
}

void project_to_polytope(const Polytope& hull, const int64_t* first, const int64_t* beside, const Vec3* points,
                         int64_t count, int64_t* at, Vec3* places, Vec3* outward) {
  const auto value_of = [&](int64_t h, const Vec3& p) { return dot(hull.normals[h], p) / hull.offsets[h]; };
  // Find the plane that the ray from the origin through a point crosses first. It has the largest value, which
  // is a linear function on the corners of the dual polytope, so hill climbing over adjacent planes finds it.
  const auto climb = [&](int64_t* plane, const Vec3& p) {
    double best = value_of(*plane, p);
    for (bool climbing = true; climbing;) {
      climbing = false;
      for (int64_t e = first[*plane]; e < first[*plane + 1]; ++e) {
        const double value = value_of(beside[e], p);
        if (value > best) {
          best = value, *plane = beside[e], climbing = true;
          break;
        }
      }
    }
    return best;
  };
  for (int64_t i = 0; i < count; ++i) {
    Vec3 p = points[i];
    int64_t plane = at[i];
    // Project repeatedly onto the plane that the ray crosses first, then exactly along the ray.
    for (int step = 0; step < 8; ++step) {
      const double height = (climb(&plane, p) - 1.0) * hull.offsets[plane];
      if (std::abs(height) <= 1e-12 * hull.offsets[plane]) break;
      p = p - height * hull.normals[plane];
    }
    const double best = climb(&plane, p);
    at[i] = plane;
    places[i] = {p.x / best, p.y / best, p.z / best};
    // On an edge or a corner, use the mean normal of the adjacent planes.
    Vec3 sum = hull.normals[plane];
    for (int64_t e = first[plane]; e < first[plane + 1]; ++e) {
      if (value_of(beside[e], p) > best * (1 - 1e-9)) sum = sum + hull.normals[beside[e]];
    }
    const double length = norm(sum);
    outward[i] = {sum.x / length, sum.y / length, sum.z / length};
  }
}

std::vector<Vec3> push_apart(const Vec3* points, const Vec3* normals, int64_t count, double reach) {
  const Grid grid(points, count, reach);
  std::vector<Vec3> near(count), out_of(count), push(count), out(count);
  for (int64_t p = 0; p < count; ++p) near[p] = points[grid.order[p]], out_of[p] = normals[grid.order[p]];
  for (int64_t p = 0; p < count; ++p) {  // each pair is visited once
    const int64_t i = grid.index(near[p], 0), j = grid.index(near[p], 1), k = grid.index(near[p], 2);
    for (int64_t ci = i; ci < std::min(i + 2, grid.shape[0]); ++ci) {
      for (int64_t cj = ci > i ? std::max<int64_t>(j - 1, 0) : j; cj < std::min(j + 2, grid.shape[1]); ++cj) {
        const int64_t row = (ci * grid.shape[1] + cj) * grid.shape[2];
        const int64_t end = grid.first[row + std::min(k + 1, grid.shape[2] - 1) + 1];
        int64_t q = ci == i && cj == j ? p + 1 : grid.first[row + std::max<int64_t>(k - 1, 0)];
        for (; q < end; ++q) {
          const Vec3 d = near[p] - near[q];
          const double square = dot(d, d);
          if (square >= reach * reach || square == 0.0) continue;
          const double length = std::sqrt(square), facing = dot(out_of[p], out_of[q]), rest = 1.0 - length / reach;
          const double strength = std::min(1.0, 2.0 + 2.0 * facing) * (rest * rest * rest) / length;
          push[p] = push[p] + strength * d;
          push[q] = push[q] - strength * d;
        }
      }
    }
  }
  for (int64_t p = 0; p < count; ++p) out[grid.order[p]] = push[p];
  return out;
}

std::vector<int64_t> keep_apart(const Vec3* points, const Vec3* normals, const int64_t* order, int64_t count,
                                double distance) {
  const Grid grid(points, count, distance);
  std::vector<bool> blocked(count), taken(count);
  for (int64_t n = 0; n < count; ++n) {
    const int64_t p = order[n];
    if (blocked[p]) continue;
    taken[p] = true;
    const int64_t i = grid.index(points[p], 0), j = grid.index(points[p], 1), k = grid.index(points[p], 2);
    for (int64_t u = std::max<int64_t>(i - 1, 0); u < std::min(i + 2, grid.shape[0]); ++u) {
      for (int64_t v = std::max<int64_t>(j - 1, 0); v < std::min(j + 2, grid.shape[1]); ++v) {
        const int64_t row = (u * grid.shape[1] + v) * grid.shape[2];
        const int64_t end = grid.first[row + std::min(k + 2, grid.shape[2])];
        for (int64_t e = grid.first[row + std::max<int64_t>(k - 1, 0)]; e < end; ++e) {
          const int64_t q = grid.order[e];
          const Vec3 d = points[q] - points[p];
          if (dot(d, d) < distance * distance && dot(normals[p], normals[q]) > -0.5) blocked[q] = true;
        }
      }
    }
  }
  std::vector<int64_t> found;
  for (int64_t p = 0; p < count; ++p) {
    if (taken[p]) found.push_back(p);
  }
  return found;
}

std::vector<int64_t> zip_rings(const Ring& a, const Ring& b) {
  std::vector<int64_t> triangles;
  int64_t i = a.count == 1 ? 1 : 0, j = b.count == 1 ? 1 : 0;
  while (i < a.count || j < b.count) {
    const int64_t from_a = a.first + i % a.count, from_b = b.first + j % b.count;
    const double next_a = a.phase + static_cast<double>(i + 1) / a.count;
    const double next_b = b.phase + static_cast<double>(j + 1) / b.count;
    const bool on_a = j == b.count || (i < a.count && next_a <= next_b);
    const int64_t to = on_a ? a.first + ++i % a.count : b.first + ++j % b.count;
    triangles.insert(triangles.end(), {from_a, to, from_b});
  }
  return triangles;
}

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kFlat = 1e-9;  // edges are not flipped if the opposite angles sum to pi within this [rad]


struct Flipper {
  int64_t *triangles, *across;
  const Vec3* positions;
  Vec3* facing;
  const int64_t* label;
  double alike;

  // Corner of triangle t that is neither vertex a nor vertex b.
  int opposite(int64_t t, int64_t a, int64_t b) const {
    int k = 0;
    while (triangles[3 * t + k] == a || triangles[3 * t + k] == b) ++k;
    return k;
  }
  // Angle at a vertex between the directions to two others.
  double angle(int64_t at, int64_t b, int64_t c) const {
    const Vec3 u = positions[b] - positions[at], v = positions[c] - positions[at];
    return std::atan2(norm(cross(u, v)), dot(u, v));
  }
  bool faces(int64_t a, int64_t b, int64_t c, const Vec3& direction) const {
    return dot(cross(positions[b] - positions[a], positions[c] - positions[a]), direction) > 0.0;
  }
  // Whether an edge joins vertices a and d, where a is a corner of triangle `start`.
  bool joined(int64_t start, int64_t a, int64_t d) const {
    int64_t t = start;
    do {
      int k = 0;
      while (triangles[3 * t + k] != a) ++k;
      if (triangles[3 * t + (k + 1) % 3] == d || triangles[3 * t + (k + 2) % 3] == d) return true;
      t = across[3 * t + (k + 1) % 3];
    } while (t != start);
    return false;
  }
  // Flip the edge opposite to corner k of triangle t if that improves the mesh.
  bool flip(int64_t t, int k) {
    const int64_t u = across[3 * t + k];
    if (label[t] != label[u]) return false;
    const int64_t a = triangles[3 * t + k], b = triangles[3 * t + (k + 1) % 3], c = triangles[3 * t + (k + 2) % 3];
    const int other = opposite(u, b, c);
    const int64_t d = triangles[3 * u + other];
    if (angle(a, b, c) + angle(d, c, b) <= kPi + kFlat || dot(facing[t], facing[u]) <= alike) return false;
    const Vec3 sum = facing[t] + facing[u];
    if (!faces(a, b, d, sum) || !faces(a, d, c, sum) || joined(t, a, d)) return false;
    const int64_t over_ca = across[3 * t + (k + 1) % 3], over_ab = across[3 * t + (k + 2) % 3];
    const int64_t over_bd = across[3 * u + (other + 1) % 3], over_dc = across[3 * u + (other + 2) % 3];
    const auto set = [](int64_t* row, int64_t x, int64_t y, int64_t z) { row[0] = x, row[1] = y, row[2] = z; };
    set(triangles + 3 * t, a, b, d), set(across + 3 * t, over_bd, u, over_ab);
    set(triangles + 3 * u, a, d, c), set(across + 3 * u, over_dc, over_ca, t);
    across[3 * over_bd + opposite(over_bd, b, d)] = t;
    across[3 * over_ca + opposite(over_ca, c, a)] = u;
    facing[t] = facing[u] = {sum.x / 2, sum.y / 2, sum.z / 2};
    return true;
  }
};

}  // namespace

void flip_to_delaunay(int64_t* triangles, int64_t* across, int64_t count, const Vec3* positions, Vec3* facing,
                      const int64_t* label, double alike) {
  Flipper flipper{triangles, across, positions, facing, label, alike};
  for (int round = 0; round < 200; ++round) {
    bool flipped = false;
    for (int64_t t = 0; t < count; ++t) {
      for (int k = 0; k < 3; ++k) flipped |= flipper.flip(t, k);
    }
    if (!flipped) return;
  }
}

namespace {

constexpr double kNear = 0.6;      // taxels closer than this to a seam vertex are removed [spacings]
constexpr double kSeamStep = 0.6;  // minimum distance between vertices of a seam [spacings]
constexpr double kJunction = 0.8;  // junctions closer than this fraction of kSeamStep are merged
constexpr double kAlike = 0.3;     // two normals with a larger cosine are on the same side of a geom
// Minimum quality of an acceptable triangle; also assigned to one of lower quality that does not get worse.
constexpr double kFair = 0.11;
constexpr double kForbidden = -2.0;

}  // namespace

void ThinnedMesh::thin(const Vec3* normals, double spacing) {
  // First preserve the shape as far as possible, then ignore it.
  drop(kSpare, 0.1);
  drop(kSpare, 0.0);
  drop(kLost, -1.5);
  // Each of the two removals can enable the other.
  const double worst[3][2] = {{0.1, 0.02}, {0.0, 0.0}, {0.0, -0.05}};
  for (const auto& [seams, cleared] : worst) {
    thin_seams(seams, kSeamStep * spacing);
    clear_seams(cleared, normals, kNear * spacing);
  }
}

void ThinnedMesh::drop(int64_t least, double worst) {
  for (bool going = true; going;) {
    going = false;
    for (int64_t u = 0; u < vertex_count; ++u) {
      if (role[u] < least || at[u] < 0) continue;
      const int64_t v = best_neighbor(u, worst);
      if (v >= 0) collapse(u, v), going = true;
    }
  }
}

// Collapse vertices along their seams, closest first, until they are at least `least` apart.
void ThinnedMesh::thin_seams(double worst, double least) {
  struct Edge {
    double length;
    int64_t a, b;
  };
  for (bool going = true; going;) {
    going = false;
    std::vector<Edge> edges;
    for (int64_t t = 0; t < triangle_count; ++t) {
      for (int k = 0; alive[t] && k < 3; ++k) {
        const int64_t u = triangles[3 * t + (k + 1) % 3], v = triangles[3 * t + (k + 2) % 3];
        if (u >= v || label[across[3 * t + k]] == label[t]) continue;
        const double length = distance(u, v);
        if (length < least) edges.push_back({length, u, v});
      }
    }
    std::stable_sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) { return x.length < y.length; });
    std::vector<bool> touched(vertex_count);
    for (const auto& [length, a, b] : edges) {
      if (touched[a] || touched[b]) continue;
      // Junctions of seams are kept unless they are very close to another junction.
      const bool close = length < kJunction * least;
      const auto quality_of = [&](int64_t from, int64_t to) {
        return role[from] == kSeam && (close || seam_edges(from) == 2) ? quality_after(from, to) : kForbidden;
      };
      const double quality_a = quality_of(a, b), quality_b = quality_of(b, a);
      if (std::max(quality_a, quality_b) < worst) continue;
      touched[a] = touched[b] = going = true;
      if (quality_a >= quality_b) {
        collapse(a, b);
      } else {
        collapse(b, a);
      }
    }
  }
}

// Remove taxels closer than `least` to a seam vertex on the same side of the taxel's geom. On another side, the
// minimum distance is half as large.
void ThinnedMesh::clear_seams(double worst, const Vec3* normals, double least) {
  for (int64_t u = 0; u < vertex_count; ++u) {
    if (at[u] < 0 || (role[u] != kTaxel && seam_edges(u) > 0)) continue;
    bool near = false;
    around(u, [&](int64_t t, int k) {
      const int64_t q = triangles[3 * t + (k + 1) % 3];
      const double length = distance(u, q);
      if (role[q] == kSeam && length < least) near |= length < least / 2 || alike(q, label[t], normals[u]);
      return true;
    });
    const int64_t v = near ? best_neighbor(u, worst) : -1;
    if (v >= 0) collapse(u, v);
  }
}

// Call visit(t, k) for the triangles t at a vertex, which is their corner k, until it returns false.
template <class Visit>
void ThinnedMesh::around(int64_t u, Visit visit) const {
  int64_t t = at[u];
  do {
    const int k = corner(t, u);
    if (!visit(t, k)) return;
    t = across[3 * t + (k + 1) % 3];
  } while (t != at[u]);
}

int ThinnedMesh::corner(int64_t t, int64_t u) const {
  return triangles[3 * t] == u ? 0 : triangles[3 * t + 1] == u ? 1 : 2;
}

double ThinnedMesh::distance(int64_t u, int64_t v) const { return norm(positions[u] - positions[v]); }

// Number of edges at a vertex that separate two geoms.
int ThinnedMesh::seam_edges(int64_t u) const {
  int count = 0;
  around(u, [&](int64_t t, int k) {
    count += label[across[3 * t + (k + 1) % 3]] != label[t];
    return true;
  });
  return count;
}

bool ThinnedMesh::joined(int64_t u, int64_t v) const {
  bool found = false;
  around(u, [&](int64_t t, int k) { return !(found = triangles[3 * t + (k + 1) % 3] == v); });
  return found;
}

// Twice the area of a triangle divided by the square of its longest edge, times the cubed cosine of the angle
// between its normal and the geom's normal.
double ThinnedMesh::quality(int64_t a, int64_t b, int64_t c, const Vec3& normal) const {
  const Vec3 u = positions[b] - positions[a], v = positions[c] - positions[a], w = v - u, n = cross(u, v);
  const double out = dot(n, normal), square = dot(n, n), edge = std::max({dot(u, u), dot(v, v), dot(w, w)});
  return square > 0.0 ? out * out * out / (square * edge) : 0.0;
}

// Quality of the worst triangle after moving vertex u onto v: at most -1 if an edge would be longer than
// `longest`, and kForbidden if the mesh would not stay closed.
double ThinnedMesh::quality_after(int64_t u, int64_t v) const {
  int shared = 0, count = 0;
  double worst = 1.0;
  around(u, [&](int64_t t, int k) {
    const int64_t b = triangles[3 * t + (k + 1) % 3], c = triangles[3 * t + (k + 2) % 3];
    shared += joined(v, b);
    ++count;
    if (b == v || c == v) return true;
    double after = quality(v, b, c, facing[t]);
    if (after < kFair && after >= quality(u, b, c, facing[t])) after = kFair;
    if (distance(v, b) > longest) after = -1.0;
    worst = std::min(worst, after);
    return true;
  });
  if (shared != 2) return kForbidden;
  if (count == 3) {  // if v has three triangles, too, these form a tetrahedron
    int others = 0;
    around(v, [&](int64_t, int) { return ++others, true; });
    if (others == 3) return kForbidden;
  }
  return worst;
}

// Best neighbor to collapse vertex u onto, or -1 if each leaves a triangle worse than `worst`.
int64_t ThinnedMesh::best_neighbor(int64_t u, double worst) const {
  int64_t best = -1;
  double best_quality = worst;
  const bool on_seam = seam_edges(u) > 0;
  around(u, [&](int64_t t, int k) {
    const int64_t v = triangles[3 * t + (k + 1) % 3];
    const bool leaves_seam = on_seam && label[across[3 * t + (k + 2) % 3]] == label[t];
    double after = quality_after(u, v);
    // Prefer vertices along the seam, and those that are kept.
    if (after > worst && (leaves_seam || role[v] >= kSpare)) after = worst + 1e-3 * (after - worst);
    if (after > best_quality) best = v, best_quality = after;
    return true;
  });
  return best;
}

// Whether a geom's surface around vertex q faces about the same direction as `normal`.
bool ThinnedMesh::alike(int64_t q, int64_t geom, const Vec3& normal) const {
  Vec3 sum;
  around(q, [&](int64_t t, int) {
    if (label[t] == geom) sum = sum + facing[t];
    return true;
  });
  return dot(sum, normal) > kAlike * norm(sum);
}

void ThinnedMesh::replace(int64_t t, int64_t old, int64_t by) {
  int64_t* found = std::find(across + 3 * t, across + 3 * t + 3, old);
  if (found != across + 3 * t + 3) *found = by;
}

// Remove vertex u by moving it onto its neighbor v.
void ThinnedMesh::collapse(int64_t u, int64_t v) {
  int64_t t = at[u];
  while (triangles[3 * t + (corner(t, u) + 1) % 3] != v) t = across[3 * t + (corner(t, u) + 1) % 3];
  // t is (u, v, a); s, across the edge from u to v, is (u, b, v).
  const int k = corner(t, u);
  const int64_t a = triangles[3 * t + (k + 2) % 3], s = across[3 * t + (k + 2) % 3];
  const int j = corner(s, u);
  const int64_t b = triangles[3 * s + (j + 1) % 3];
  const int64_t beyond_a = across[3 * t + k], before_a = across[3 * t + (k + 1) % 3];
  const int64_t beyond_b = across[3 * s + j], before_b = across[3 * s + (j + 2) % 3];
  int64_t w = t;
  do {
    const int at_u = corner(w, u);
    triangles[3 * w + at_u] = v;
    w = across[3 * w + (at_u + 1) % 3];
  } while (w != t);
  replace(beyond_a, t, before_a);
  replace(before_a, t, beyond_a);
  replace(beyond_b, s, before_b);
  replace(before_b, s, beyond_b);
  alive[t] = alive[s] = false;
  at[u] = -1;
  at[v] = at[a] = beyond_a;
  at[b] = beyond_b;
}

}  // namespace tactile

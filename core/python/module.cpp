// The Python module `tactile_sim._core`. Python checks user input; this module checks shapes and types.
#include <mujoco/mjmodel.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <deque>
#include <string>
#include <tuple>

#include "arrays.h"
#include "tactile/cdr.h"
#include "tactile/feelers.h"
#include "tactile/placement.h"
#include "tactile/uv.h"

void load_mujoco();

namespace {

// A right of one thread at a time, for which nobody waits. A thread that has it can begin again.
class Turn {
 public:
  explicit Turn(bool forks) : process_(forks ? 0 : getpid()) {}

  // Whether this is a fork of the process, which must not use the object.
  bool forked() const { return process_ && process_ != getpid(); }
  // Return false if another thread has the turn, or in a fork.
  bool begin() {
    const unsigned long own = PyThread_get_thread_ident();
    unsigned long none = 0;
    if (thread_.load() == own) return ++depth_;
    return !forked() && thread_.compare_exchange_strong(none, own);
  }
  void end() {
    if (depth_) {
      --depth_;
    } else {
      thread_.store(0);
    }
  }

 private:
  const pid_t process_;
  std::atomic<unsigned long> thread_{0};
  int depth_ = 0;  // number of times that the thread has begun again
};

}  // namespace

namespace {

using Triangles2 = nb::ndarray<const double, nb::numpy, nb::shape<-1, 3, 2>, nb::c_contig, nb::device::cpu>;

const tactile::Triangle2* triangles(const Triangles2& array) {
  return reinterpret_cast<const tactile::Triangle2*>(array.data());
}

template <class T>
tactile::Table<T> table(const Rows<T>& array) {
  return {array.data(), static_cast<int64_t>(array.shape(0)), static_cast<int64_t>(array.shape(1))};
}

// Write a message into a new bytes object, which it returns with the result of WireTemplate::write.
std::pair<nb::object, tactile::WireTemplate::Result> encode(const tactile::WireTemplate& self,
                                                            const tactile::WireFields& fields) {
  PyObject* message = PyBytes_FromStringAndSize(nullptr, self.bound(fields));
  if (!message) throw nb::python_error();
  const auto result = self.write(fields, reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(message)));
  if (_PyBytes_Resize(&message, result.size) != 0) throw nb::python_error();
  return {nb::steal(message), result};
}

// Raise an ImportError unless the installed MuJoCo has the structures for which this module was compiled.
void require_mujoco() {
  const nb::module_ mujoco = nb::module_::import_("mujoco");
  const std::string built = TACTILE_MUJOCO_VERSION, found = nb::cast<std::string>(mujoco.attr("__version__"));
  if (found == built) return;
  const std::string message = "tactile_sim was compiled for MuJoCo " + built + ", but version " + found +
                              " is installed; to install the former: pip install mujoco==" + built +
                              ", or compile tactile_sim again";
  throw nb::import_error(message.c_str());
}

}  // namespace

// Check that the triangles form a closed mesh of n vertices: triangle t has a neighbor across the edge opposite to
// each of its corners k, across[t, k], which has the same edge in the opposite direction. Triangles that are not
// alive do not count.
void require_closed(const Triples& triangles, const Triples& across, size_t n, const bool* alive = nullptr) {
  const auto count = static_cast<int64_t>(triangles.shape(0));
  for (int64_t t = 0; t < count; ++t) {
    if (alive && !alive[t]) continue;
    for (int k = 0; k < 3; ++k) {
      const int64_t u = across(t, k), a = triangles(t, (k + 1) % 3), b = triangles(t, (k + 2) % 3);
      require(0 <= a && a < static_cast<int64_t>(n) && a != b, "triangles must have three different vertices");
      bool joined = false;
      for (int j = 0; 0 <= u && u < count && (!alive || alive[u]) && j < 3; ++j) {
        joined |= across(u, j) == t && triangles(u, (j + 1) % 3) == b && triangles(u, (j + 2) % 3) == a;
      }
      require(joined, "triangles must form a closed mesh");
    }
  }
}

tactile::ThinnedMesh thinned_mesh(const Vectors& positions, const List<int64_t>& role, const Triples& triangles,
                                  const Triples& across, const List<int64_t>& label, const Vectors& facing,
                                  const Out<bool, nb::ndim<1>>& alive, const Out<int64_t, nb::ndim<1>>& at,
                                  double longest) {
  const size_t n = positions.shape(0), t = triangles.shape(0);
  require(role.size() == n && at.size() == n && across.shape(0) == t && label.size() == t &&
              facing.shape(0) == t && alive.size() == t,
          "arrays must have one row for each vertex or triangle");
  require_closed(triangles, across, n, alive.data());
  for (size_t u = 0; u < n; ++u) {
    const int64_t own = at(u);
    require(own == -1 || (0 <= own && own < static_cast<int64_t>(t) && alive(own) &&
                          std::count(&triangles(own, 0), &triangles(own, 0) + 3, static_cast<int64_t>(u))),
            "at must be triangles at the vertices");
  }
  tactile::ThinnedMesh mesh;
  mesh.positions = points(positions), mesh.role = role.data(), mesh.triangles = triangles.data();
  mesh.across = across.data(), mesh.label = label.data(), mesh.facing = points(facing);
  mesh.alive = alive.data(), mesh.at = at.data(), mesh.longest = longest;
  mesh.vertex_count = static_cast<int64_t>(n), mesh.triangle_count = static_cast<int64_t>(t);
  return mesh;
}

tactile::Polytope polytope(const Vectors& normals, const Numbers& offsets) {
  require(normals.shape(0) == offsets.size() && offsets.size(), "normals and offsets must have equal lengths");
  return {points(normals), offsets.data(), static_cast<int64_t>(offsets.size())};
}

void bind_placement(nb::module_& m) {
  m.def(
      "depth_in_hull",
      [](const Vectors& places, const Vectors& normals, const Numbers& offsets) {
        const auto hull = polytope(normals, offsets);
        std::vector<double> out(places.shape(0));
        for (size_t i = 0; i < out.size(); ++i) out[i] = hull.depth(points(places)[i]);
        return array(std::move(out));
      },
      "points"_a, "normals"_a, "offsets"_a,
      "Return the depth (n,) of points (n, 3) below the nearest plane of a hull [m]; negative outside.");
  m.def(
      "hull_normals",
      [](const Vectors& places, const Vectors& normals, const Numbers& offsets, double blur) {
        const auto hull = polytope(normals, offsets);
        std::vector<tactile::Vec3> out(places.shape(0));
        std::vector<double> depths;
        for (size_t i = 0; i < out.size(); ++i) out[i] = hull.normal(points(places)[i], blur, depths);
        return array(std::move(out));
      },
      "points"_a, "normals"_a, "offsets"_a, "blur"_a,
      "Return, for each point, the sum (n, 3) of the normals of the hull's planes that are nearest to it.");
  m.def(
      "onto_hull",
      [](const Vectors& places, const Vectors& normals, const Numbers& offsets, const Numbers& middle) {
        const auto hull = polytope(normals, offsets);
        require(middle.size() == 3, "middle must have 3 coordinates");
        std::vector<tactile::Vec3> out(places.shape(0));
        for (size_t i = 0; i < out.size(); ++i) out[i] = hull.onto(points(places)[i], tactile::vec3(middle.data()));
        return array(std::move(out));
      },
      "points"_a, "normals"_a, "offsets"_a, "middle"_a,
      "Project points (n, 3) near a hull onto it, given a point (3,) inside.");
  m.def(
      "project_to_hull",
      [](const Vectors& places, const Out<int64_t, nb::ndim<1>>& at, const Vectors& normals, const Numbers& offsets,
         const List<int64_t>& first, const List<int64_t>& beside) {
        const auto hull = polytope(normals, offsets);
        const size_t n = places.shape(0);
        const size_t planes = offsets.size();
        require(at.size() == n && within(at, 0, planes) && delimits(first, planes, beside.size()) &&
                    within(beside, 0, planes),
                "arrays must fit the points and planes");
        std::vector<tactile::Vec3> projected(n), outward(n);
        project_to_polytope(hull, first.data(), beside.data(), points(places), n, at.data(), projected.data(),
                            outward.data());
        return std::make_tuple(array(std::move(projected)), array(std::move(outward)));
      },
      "points"_a, "at"_a.noconvert(), "normals"_a, "offsets"_a, "first"_a, "beside"_a,
      "Project points onto a hull around the origin; return points and outward normals, and update `at`.");
  m.def(
      "push_apart",
      [](const Vectors& places, const Vectors& normals, double reach) {
        require(places.shape(0) == normals.shape(0) && places.shape(0), "points and normals must have equal lengths");
        require(all_finite(places) && reach > 0.0, "points must be finite, and reach positive");
        return array(tactile::push_apart(points(places), points(normals), places.shape(0), reach));
      },
      "points"_a, "normals"_a, "reach"_a,
      "Return the repulsion (n, 3) of each point by the points within reach on the same side of the body.");
  m.def(
      "keep_apart",
      [](const Vectors& places, const Vectors& normals, const List<int64_t>& order, double distance) {
        const size_t n = places.shape(0);
        require(n && normals.shape(0) == n && order.size() == n && within(order, 0, n),
                "points, normals and order must have equal lengths");
        require(all_finite(places) && distance > 0.0, "points must be finite, and distance positive");
        return array(tactile::keep_apart(points(places), points(normals), order.data(), n, distance));
      },
      "points"_a, "normals"_a, "order"_a, "distance"_a,
      "Return the indices of the candidates that keep a distance to all those selected before them.");
  m.def(
      "zip_rings",
      [](int64_t first_a, int64_t count_a, double phase_a, int64_t first_b, int64_t count_b, double phase_b) {
        require(count_a > 0 && count_b > 0, "rings must have points");
        return array(tactile::zip_rings({first_a, count_a, phase_a}, {first_b, count_b, phase_b}), 3);
      },
      "first_a"_a, "count_a"_a, "phase_a"_a, "first_b"_a, "count_b"_a, "phase_b"_a,
      "Return the triangles (t, 3) of the band between two rings of points; phases in turns.");
  m.def(
      "flip_to_delaunay",
      [](const Triples& triangles, const Triples& across, const Vectors& positions,
         const Out<double, nb::shape<-1, 3>>& facing, const List<int64_t>& label, double alike) {
        const size_t t = triangles.shape(0);
        require(across.shape(0) == t && facing.shape(0) == t && label.size() == t, "triangles must have equal lengths");
        require_closed(triangles, across, positions.shape(0));
        tactile::flip_to_delaunay(triangles.data(), across.data(), t, points(positions),
                                  reinterpret_cast<tactile::Vec3*>(facing.data()), label.data(), alike);
      },
      "triangles"_a.noconvert(), "across"_a.noconvert(), "positions"_a, "facing"_a.noconvert(), "label"_a, "alike"_a,
      "Flip edges of a closed mesh in place until it is Delaunay (Lawson's algorithm).");
  m.def(
      "thin_mesh",
      [](const Vectors& positions, const List<int64_t>& role, const Triples& triangles, const Triples& across,
         const List<int64_t>& label, const Vectors& facing, const Out<bool, nb::ndim<1>>& alive,
         const Out<int64_t, nb::ndim<1>>& at, double longest, const Vectors& normals, double spacing) {
        require(normals.shape(0) == positions.shape(0), "normals must have one row for each vertex");
        thinned_mesh(positions, role, triangles, across, label, facing, alive, at, longest)
            .thin(points(normals), spacing);
      },
      "positions"_a, "role"_a, "triangles"_a.noconvert(), "across"_a.noconvert(), "label"_a, "facing"_a,
      "alive"_a.noconvert(), "at"_a.noconvert(), "longest"_a,
      "normals"_a, "spacing"_a, "Remove vertices that are not taxels, or too close to another vertex at a seam.");
  m.def(
      "drop_vertices",
      [](const Vectors& positions, const List<int64_t>& role, const Triples& triangles, const Triples& across,
         const List<int64_t>& label, const Vectors& facing, const Out<bool, nb::ndim<1>>& alive,
         const Out<int64_t, nb::ndim<1>>& at, double longest, int64_t least, double worst) {
        thinned_mesh(positions, role, triangles, across, label, facing, alive, at, longest).drop(least, worst);
      },
      "positions"_a, "role"_a, "triangles"_a.noconvert(), "across"_a.noconvert(), "label"_a, "facing"_a,
      "alive"_a.noconvert(), "at"_a.noconvert(), "longest"_a,
      "least"_a, "worst"_a, "Remove vertices of at least this role, unless a triangle would get worse than `worst`.");
  m.def(
      "rasterize",
      [](const Triangles2& corners, const nb::ndarray<const bool, nb::numpy, nb::ndim<2>, nb::c_contig>& wanted) {
        std::vector<int32_t> owner(wanted.size());
        const auto overlap = tactile::rasterize(triangles(corners), corners.shape(0), wanted.data(), wanted.shape(0),
                                                wanted.shape(1), owner.data());
        return std::make_tuple(array(std::move(owner), wanted.shape(1)), overlap.row, overlap.column,
                              overlap.one, overlap.other);
      },
      "triangles"_a, "wanted"_a,
      "Return the triangle of each pixel, and row, column and both triangles of the first overlap, or -1.");
  m.def(
      "covering_triangles",
      [](const Triangles2& corners, const List<int64_t>& chart, double slack) {
        require(chart.size() == corners.shape(0), "triangles and chart must have equal lengths");
        const auto found = tactile::covering_triangles(triangles(corners), chart.data(), chart.size(), slack);
        return array(std::vector<uint8_t>(found.begin(), found.end()));
      },
      "triangles"_a, "chart"_a, "slack"_a,
      "Return 1 for triangles that overlap an earlier one of the same chart which is not covered itself.");
}

void bind_arrays(nb::module_& m) {
  m.def(
      "relative_poses",
      [](const Vectors& positions, const nb::ndarray<const double, nb::numpy, nb::shape<-1, 4>, nb::c_contig>& quats,
         const nb::ndarray<const double, nb::numpy, nb::shape<-1, 3, 3>, nb::c_contig>& rotations, const List<int32_t>& child, const List<int32_t>& parent) {
        const size_t n = positions.shape(0);
        require(quats.shape(0) == n && rotations.shape(0) == n && parent.size() == n, "poses must have equal lengths");
        std::vector<double> out(7 * child.size());
        for (size_t i = 0; i < child.size(); ++i) {
          const size_t c = child.data()[i], p = c < n ? parent.data()[c] : n;
          require(p < n, "child and parent must be indices of poses");
          const auto frame = tactile::Pose::from(rotations.data() + 9 * p, positions.data() + 3 * p);
          const tactile::Vec3 offset = frame.into(points(positions)[c] - frame.origin);
          const double *q = quats.data() + 4 * p, *b = quats.data() + 4 * c;
          const double a[4] = {q[0], -q[1], -q[2], -q[3]};  // the conjugate
          double* pose = out.data() + 7 * i;
          pose[0] = offset.x, pose[1] = offset.y, pose[2] = offset.z;
          pose[3] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
          pose[4] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
          pose[5] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
          pose[6] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
        }
        return array(std::move(out), 7);
      },
      "positions"_a, "quaternions"_a, "rotations"_a, "child"_a, "parent"_a,
      "Return the poses (n, 7) of children in the frames of their parents: position, quaternion xyzw.");
  m.def(
      "write_point_forces",
      [](const Out<float, nb::shape<-1, 9>>& rows, const nb::ndarray<const float, nb::numpy, nb::shape<-1, 3>, nb::c_contig>& forces,
         const List<int64_t>& offsets) {
        const size_t n = rows.shape(0), pads = offsets.size() - 1;
        require(forces.shape(0) == n && delimits(offsets, pads, n), "forces and offsets must fit the rows");
        for (size_t pad = 0; pad < pads; ++pad) {
          for (int64_t i = offsets.data()[pad]; i < offsets.data()[pad + 1]; ++i) {
            float* row = rows.data() + 9 * i;
            const float* f = forces.data() + 3 * i;
            const uint32_t ids[2] = {static_cast<uint32_t>(pad), static_cast<uint32_t>(i - offsets.data()[pad])};
            row[3] = std::sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
            std::copy_n(f, 3, row + 4);
            std::memcpy(row + 7, ids, sizeof(ids));
          }
        }
      },
      "rows"_a.noconvert(), "forces"_a, "offsets"_a,
      "Write columns 3 to 8 of tactile/points: magnitude and force [N], and pad and taxel as uint32.");
}

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // Objects that modules hold until the interpreter ends are no leaks.
  m.doc() = "The inner loops of tactile_sim, as one C++ library.";
  require_mujoco();
  load_mujoco();
  nb::class_<Turn>(m, "Turn", "A right of one thread at a time, for which nobody waits.")
      .def(nb::init<bool>(), "forks"_a)
      .def_prop_ro("forked", &Turn::forked, "Whether this is a fork of the process, which must not use the object.")
      .def("begin", &Turn::begin, "Return False if another thread has the turn, or in a fork.")
      .def("end", &Turn::end);
  bind_arrays(m);
  bind_engines(m);
  bind_placement(m);
  bind_skin(m);
  bind_chain(m);
  bind_stepping(m);
  bind_trifinger(m);

  nb::class_<tactile::FeelerBody>(m, "FeelerBody", "The feelers of one body, in its frame.")
      .def(
          "__init__",
          [](tactile::FeelerBody* self, int body, bool children, double tolerance, const Vectors& positions,
             const Vectors& normals, const Numbers& lengths) {
            require(positions.shape(0) == lengths.size() && normals.shape(0) == lengths.size(),
                    "positions, normals and lengths must have equal lengths");
            new (self) tactile::FeelerBody{body, children, tolerance, vectors(positions), vectors(normals),
                                           {lengths.data(), lengths.data() + lengths.size()}};
          },
          "body"_a, "children"_a, "tolerance"_a, "positions"_a, "normals"_a, "lengths"_a);

  nb::class_<tactile::Feelers>(m, "Feelers", "The feelers on the bodies of a model.")
      .def(
          "__init__",
          [](tactile::Feelers* self, uintptr_t model, const std::vector<tactile::FeelerBody>& bodies) {
            nb::gil_scoped_release release;
            new (self) tactile::Feelers(model_at(model), bodies);
          },
          "model"_a, "bodies"_a)
      .def(
          "read",
          [](const tactile::Feelers& self, uintptr_t address, const Vectors& body_positions,
             const Rotations& body_rotations, const Vectors& geom_positions, const Rotations& geom_rotations) {
            const mjModel& model = model_at(address);
            const size_t nbody = model.nbody, ngeom = model.ngeom;
            require(body_positions.shape(0) == nbody && body_rotations.shape(0) == nbody &&
                        geom_positions.shape(0) == ngeom && geom_rotations.shape(0) == ngeom,
                    "poses must have one row for each body and geom of the model");
            std::vector<double> out(self.size());
            {
              nb::gil_scoped_release release;
              self.read(model, {body_positions.data(), body_rotations.data(), geom_positions.data(),
                                geom_rotations.data()}, out.data());
            }
            return array(std::move(out));
          },
          "model"_a, "body_positions"_a, "body_rotations"_a, "geom_positions"_a, "geom_rotations"_a);

  nb::enum_<tactile::WireStep::Code>(m, "WireStep", nb::is_arithmetic(), "Kinds of steps of a WireTemplate.")
      .value("CHECK", tactile::WireStep::kCheck)
      .value("PIECE", tactile::WireStep::kPiece)
      .value("STAMP", tactile::WireStep::kStamp)
      .value("INT", tactile::WireStep::kInt)
      .value("DOUBLES", tactile::WireStep::kDoubles)
      .value("SINGLES", tactile::WireStep::kSingles)
      .value("ROWS", tactile::WireStep::kRows)
      .value("PAYLOAD", tactile::WireStep::kPayload)
      .value("REPEAT", tactile::WireStep::kRepeat)
      .value("NEXT", tactile::WireStep::kNext);

  nb::class_<tactile::WireTemplate>(m, "WireTemplate", "A message in the CDR wire format, with variable fields.")
      .def(
          "__init__",
          [](tactile::WireTemplate* self, const Rows<int64_t>& steps, nb::bytes pieces, const Rows<int64_t>& spans) {
            require(steps.shape(1) == 4 && spans.shape(1) == 2, "must have 4 and 2 columns");
            const auto* step = reinterpret_cast<const tactile::WireStep*>(steps.data());
            const auto* piece = reinterpret_cast<const uint8_t*>(pieces.c_str());
            new (self) tactile::WireTemplate({step, step + steps.shape(0)}, {piece, piece + pieces.size()},
                                             {spans.data(), spans.data() + spans.size()});
          },
          "steps"_a, "pieces"_a, "spans"_a)
      .def(
          "fill",
          [](const tactile::WireTemplate& self, int64_t stamp, const Rows<int32_t>& keys,
             const Rows<double>& values, const Rows<double>& points, nb::args data) -> nb::object {
            require(data.size() == self.payloads(), "data must have an array for each payload");
            std::deque<Memory> memory;
            tactile::WireFields fields{stamp, table(keys), table(values), table(points), {}};
            for (nb::handle array : data) {
              const Memory& own = memory.emplace_back(array);
              fields.payloads.push_back({own.data(), own.size()});
            }
            const auto [message, result] = encode(self, fields);
            if (result.step >= 0) return nb::make_tuple(result.row, result.step);
            return message;
          },
          nb::sig("def fill(self, stamp: int, keys: NDArray[numpy.int32], values: NDArray[numpy.float64], "
                  "points: NDArray[numpy.float64], *data: object) -> bytes | tuple[int, int]"),
          "Return the message, or the row and the index of the step at which it failed.")
      .def(
          "reserve",
          [](const tactile::WireTemplate& self, int64_t stamp, int64_t size) {
            require(self.payloads() == 1 && self.is_constant() && size >= 0, "must have one payload and only stamps");
            const auto [message, result] = encode(self, {stamp, {}, {}, {}, {{nullptr, size}}});
            auto* gap = reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(message.ptr())) + result.gap;
            nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>> view(gap, {static_cast<size_t>(size)}, message);
            return nb::make_tuple(message, view);
          },
          "stamp"_a, "size"_a,
          "Return a message with one payload of this size and otherwise only stamps, and a view of the payload.");
}

// NumPy arrays as arguments and results of bindings.
#pragma once

#include <mujoco/mjdata.h>
#include <mujoco/mjmodel.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tactile/geometry.h"
#include "tactile/readings.h"
#include "tactile/skin.h"

namespace nb = nanobind;
using namespace nb::literals;

using Vectors = nb::ndarray<const double, nb::numpy, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Rotations = nb::ndarray<const double, nb::numpy, nb::shape<-1, 9>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// An mjModel or mjData is passed as its address, which the Python object keeps alive.
inline const mjModel& model_at(uintptr_t address) { return *reinterpret_cast<const mjModel*>(address); }
inline mjData& data_at(uintptr_t address) { return *reinterpret_cast<mjData*>(address); }

// Arrays that a function changes.
template <class T, class... Shape>
using Out = nb::ndarray<T, nb::numpy, Shape..., nb::c_contig, nb::device::cpu>;
template <class T>
using List = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Triples = nb::ndarray<int64_t, nb::numpy, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

inline const tactile::Vec3* points(const Vectors& array) { return reinterpret_cast<const tactile::Vec3*>(array.data()); }

inline void require(bool fits, const char* message) {
  if (!fits) throw nb::value_error(message);
}

// Whether all numbers are in [low, high).
template <class T>
bool within(tactile::Range<T> numbers, int64_t low, int64_t high) {
  return std::all_of(numbers.begin(), numbers.end(), [&](int64_t number) { return low <= number && number < high; });
}
template <class Array>
bool within(const Array& numbers, int64_t low, int64_t high) {
  return within(tactile::Range<const typename Array::Scalar>{numbers.data(), numbers.size()}, low, high);
}

template <class Array>
bool all_finite(const Array& numbers) {
  return std::all_of(numbers.data(), numbers.data() + numbers.size(), [](double number) { return std::isfinite(number); });
}

// Whether `starts` are the starts of successive ranges, followed by the end of the last one, which is `total`.
inline bool delimits(const List<int64_t>& starts, size_t ranges, size_t total) {
  const int64_t* first = starts.data();
  return starts.size() == ranges + 1 && first[0] >= 0 && std::is_sorted(first, first + ranges + 1) &&
         first[ranges] == static_cast<int64_t>(total);
}

template <class T>
using Result1 = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using Result2 = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

template <class Row>
nb::capsule owner_of(std::vector<Row>* values) {
  return nb::capsule(values, [](void* p) noexcept { delete static_cast<std::vector<Row>*>(p); });
}

// Return the content of a vector as an array, without a copy.
template <class T>
Result1<T> array(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  return Result1<T>(owned->data(), {owned->size()}, owner_of(owned));
}

// Return the content of a vector as an array with rows of this width.
template <class T>
Result2<T> array(std::vector<T>&& values, size_t width) {
  auto* owned = new std::vector<T>(std::move(values));
  return Result2<T>(owned->data(), {width ? owned->size() / width : 0, width}, owner_of(owned));
}

inline Result2<double> array(std::vector<tactile::Vec3>&& values) {
  auto* owned = new std::vector<tactile::Vec3>(std::move(values));
  return Result2<double>(reinterpret_cast<double*>(owned->data()), {owned->size(), 3}, owner_of(owned));
}

inline std::vector<tactile::Vec3> vectors(const Vectors& array) {
  std::vector<tactile::Vec3> found(array.shape(0));
  for (size_t i = 0; i < found.size(); ++i) found[i] = tactile::vec3(array.data() + 3 * i);
  return found;
}

template <class T>
using Rows = nb::ndarray<const T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The memory of a contiguous array of any type, released at the end of its scope.
class Memory {
 public:
  explicit Memory(nb::handle object, int flags = PyBUF_SIMPLE) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
  }
  Memory(const Memory&) = delete;
  ~Memory() { PyBuffer_Release(&view_); }
  const void* data() const { return view_.len ? view_.buf : &view_; }
  Py_ssize_t size() const { return view_.len; }
  // The records of a structured array.
  template <class T>
  tactile::Range<T> records() const {
    require(view_.len % sizeof(T) == 0, "array must have records of the right size");
    return {static_cast<T*>(view_.buf), view_.len / sizeof(T)};
  }

 private:
  Py_buffer view_;
};

// Write the readings of a skin due to the contacts in mjData to `out`, zeros, and the taxels that were written.
void read_skin(nb::handle skin, const tactile::Function& function, const mjModel& model, const mjData& data, double* out,
               std::vector<int64_t>& touched);

void bind_chain(nb::module_& m);
void bind_engines(nb::module_& m);
void bind_skin(nb::module_& m);
void bind_stepping(nb::module_& m);
void bind_trifinger(nb::module_& m);

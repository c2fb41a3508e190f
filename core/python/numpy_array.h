// NumPy arrays as arguments, read through NumPy's C interface: several times faster than nb::ndarray, which matters
// for calls that take microseconds.
#pragma once

#define PY_ARRAY_UNIQUE_SYMBOL tactile_numpy
#ifndef TACTILE_IMPORT_NUMPY
#define NO_IMPORT_ARRAY
#endif
#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <nanobind/nanobind.h>
#include <numpy/arrayobject.h>

#include <cstdint>
#include <initializer_list>
#include <type_traits>

template <class T>
constexpr int kNumpyType = std::is_same_v<T, double>    ? NPY_FLOAT64
                           : std::is_same_v<T, float>   ? NPY_FLOAT32
                           : std::is_same_v<T, int64_t> ? NPY_INT64
                           : std::is_same_v<T, int32_t> ? NPY_INT32
                                                        : NPY_BOOL;

// A C-contiguous array with these numbers of elements along its axes (-1: any). Arrays that a function only reads
// (const T) are converted if necessary.
template <class T, int... Sizes>
class NumpyArray {
 public:
  T* data() const { return static_cast<T*>(PyArray_DATA(array())); }
  size_t shape(int axis) const { return static_cast<size_t>(PyArray_DIM(array(), axis)); }
  size_t size() const { return static_cast<size_t>(PyArray_SIZE(array())); }

  // Take an object, or return false if it does not fit.
  bool take(nanobind::handle given, bool convert) {
    constexpr int kType = kNumpyType<std::remove_const_t<T>>;
    if (!PyArray_Check(given.ptr())) return false;
    owner_ = nanobind::borrow(given);
    if (!PyArray_EquivTypenums(PyArray_TYPE(array()), kType) ||
        !(std::is_const_v<T> ? PyArray_ISCARRAY_RO(array()) : PyArray_ISCARRAY(array()))) {
      if (!std::is_const_v<T> || !convert) return false;
      owner_ = nanobind::steal(PyArray_FromAny(given.ptr(), PyArray_DescrFromType(kType), 0, 0,
                                               NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST, nullptr));
      if (!owner_.is_valid()) PyErr_Clear();
      if (!owner_.is_valid()) return false;
    }
    if (PyArray_NDIM(array()) != sizeof...(Sizes)) return false;
    int axis = 0;
    for (const int size : {Sizes...}) {
      if (size >= 0 && PyArray_DIM(array(), axis) != size) return false;
      ++axis;
    }
    return true;
  }

  // A new array of zeros.
  static NumpyArray zeros(std::initializer_list<size_t> shape) {
    npy_intp sizes[sizeof...(Sizes)];
    std::copy(shape.begin(), shape.end(), sizes);
    NumpyArray made;
    made.owner_ = nanobind::steal(
        PyArray_ZEROS(sizeof...(Sizes), sizes, kNumpyType<std::remove_const_t<T>>, 0));
    if (!made.owner_.is_valid()) throw nanobind::python_error();
    return made;
  }
  nanobind::object object() const { return owner_; }

 private:
  PyArrayObject* array() const { return reinterpret_cast<PyArrayObject*>(owner_.ptr()); }
  nanobind::object owner_;
};

namespace nanobind::detail {

template <class T, int... Sizes>
struct type_caster<NumpyArray<T, Sizes...>> {
  using Array = NumpyArray<T, Sizes...>;
  NB_TYPE_CASTER(Array, const_name("numpy.ndarray"))
  bool from_python(handle given, uint8_t flags, cleanup_list*) noexcept {
    return value.take(given, flags & (uint8_t)cast_flags::convert);
  }
  static handle from_cpp(const Array& array, rv_policy, cleanup_list*) noexcept { return array.object().release(); }
};

}  // namespace nanobind::detail

// Messages in the CDR wire format (little-endian), written by filling in the variable fields of a template.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tactile {

// A step in writing a message, with up to three operands a, b and c. Steps between kRepeat and kNext run once
// for each row of the keys and values, all others use the first row.
struct WireStep {
  enum Code {
    kCheck,    // require a columns of keys, b columns of values and at least c rows; always first
    kPiece,    // constant bytes: key column of the choice (-1: one choice), first span, number of choices.
               // Each choice has eight spans, one for each start offset modulo 8, which include the padding.
    kStamp,    // the stamp: seconds (int32) and nanoseconds (uint32)
    kInt,      // integer: key column, size [bytes]
    kDoubles,  // float64 numbers: first value column, number of columns
    kSingles,  // the same as float32
    kRows,     // sequence of float64: key columns of the first row and of the number of rows, width of a row
    kPayload,  // sequence from an array: size of a number [bytes], size of an element [bytes], its index
    kRepeat,   // begin of the repeated steps: index of the step after kNext
    kNext,     // end of the repeated steps: index of the step after kRepeat
  };
  int64_t code, a, b, c;
};

// Row-major table of numbers.
template <class T>
struct Table {
  const T* data;
  int64_t rows, columns;
};

struct Payload {
  const void* data;  // null: leave a gap for the caller to fill
  int64_t size;      // [bytes]
};

struct WireFields {
  int64_t stamp;  // [ns]
  Table<int32_t> keys;
  Table<double> values;
  Table<double> points;  // from which kRows copies; each row can be used only once
  std::vector<Payload> payloads;
};

class WireTemplate {
 public:
  // `spans` are pairs of begin and end in `pieces`. Throws std::invalid_argument if a step is invalid.
  WireTemplate(std::vector<WireStep> steps, std::vector<uint8_t> pieces, std::vector<int64_t> spans);

  size_t payloads() const { return payloads_; }
  // Whether it has no other variable fields than stamps and payloads.
  bool is_constant() const { return !(steps_[0].a || steps_[0].b || steps_[0].c); }

  // Upper bound of the size of a message [bytes].
  int64_t bound(const WireFields& fields) const;

  struct Result {
    int64_t size;  // of the message [bytes]
    int64_t gap;   // offset of the last payload without data
    int64_t row;   // row at which a step failed
    int64_t step;  // index of the failed step, or -1
  };
  // Write a message to `out`, which must have room for `bound` bytes.
  Result write(const WireFields& fields, uint8_t* out) const;

 private:
  std::vector<WireStep> steps_;
  std::vector<uint8_t> pieces_;
  // Check a step, and return the largest number of bytes that it writes, apart from points and payloads.
  int64_t most(size_t step, bool repeated) const;

  std::vector<int64_t> spans_;
  int64_t size_ = 0, row_size_ = 0;  // largest size without rows, points and payloads, and of each row [bytes]
  size_t payloads_ = 0;
};

}  // namespace tactile

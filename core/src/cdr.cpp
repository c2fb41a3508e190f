#include "tactile/cdr.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace tactile {

namespace {

constexpr uint8_t kEncapsulation[4] = {0, 1, 0, 0};  // little-endian CDR
constexpr int64_t kNanoseconds = 1'000'000'000;

// Writes numbers at aligned offsets from the end of the encapsulation.
class Writer {
 public:
  explicit Writer(uint8_t* out) : begin_(out), at_(out) {}

  int64_t offset() const { return at_ - begin_; }
  void align(int64_t size) {
    while (offset() & (size - 1)) *at_++ = 0;
  }
  void copy(const void* data, int64_t size) {
    if (data && size) std::memcpy(at_, data, size);
    at_ += size;
  }
  template <class T>
  void put(T value) {
    align(sizeof(T));
    copy(&value, sizeof(T));
  }

 private:
  uint8_t *begin_, *at_;
};

}  // namespace

WireTemplate::WireTemplate(std::vector<WireStep> steps, std::vector<uint8_t> pieces, std::vector<int64_t> spans)
    : steps_(std::move(steps)), pieces_(std::move(pieces)), spans_(std::move(spans)) {
  const auto end = static_cast<int64_t>(pieces_.size());
  bool valid = !steps_.empty() && steps_[0].code == WireStep::kCheck && spans_.size() % 2 == 0;
  for (size_t k = 0; k + 1 < spans_.size(); k += 2) {
    valid = valid && 0 <= spans_[k] && spans_[k] <= spans_[k + 1] && spans_[k + 1] <= end;
  }
  if (!valid) throw std::invalid_argument("steps must begin with a check, and spans must be within the pieces");
  size_t next = 0;  // index of kNext, or 0
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (steps_[s].code == WireStep::kRepeat) {
      const auto after = static_cast<size_t>(steps_[s].a);
      valid = !next && s + 1 < after && after <= steps_.size() && steps_[after - 1].code == WireStep::kNext &&
              steps_[after - 1].a == static_cast<int64_t>(s + 1);
      if (!valid) throw std::invalid_argument("a template can only have one pair of repeat and next");
      next = after - 1;
      size_ += most(s, false);
      while (++s < next) row_size_ += most(s, true);
    } else {
      size_ += most(s, false);
      if (steps_[s].code == WireStep::kPayload) {
        if (steps_[s].c != static_cast<int64_t>(payloads_++)) throw std::invalid_argument("payloads must be in order");
      }
    }
  }
}

int64_t WireTemplate::most(size_t step, bool repeated) const {
  const auto& [code, a, b, c] = steps_[step];
  const WireStep& check = steps_[0];
  const auto key = [&](int64_t column) { return 0 <= column && column < check.a && (repeated || check.c > 0); };
  const auto spans = static_cast<int64_t>(spans_.size() / 2);
  int64_t size = -1;
  switch (code) {
    case WireStep::kCheck:
      if (step == 0 && a >= 0 && b >= 0) size = 0;
      break;
    case WireStep::kPiece:
      if ((a == -1 || key(a)) && 0 <= b && b <= spans && 0 <= c && c <= (spans - b) / 8) size = 0;
      for (int64_t k = b; size >= 0 && k < b + 8 * c; ++k) size = std::max(size, spans_[2 * k + 1] - spans_[2 * k]);
      break;
    case WireStep::kStamp: size = 11; break;
    case WireStep::kInt:
      if (key(a) && (b == 1 || b == 2 || b == 4 || b == 8)) size = 2 * b;
      break;
    case WireStep::kDoubles:
    case WireStep::kSingles:
      if (0 <= a && a <= check.b && 0 <= b && b <= check.b - a && (repeated || check.c > 0)) size = 8 * (b + 1);
      break;
    case WireStep::kRows:
      if (key(a) && key(b) && c >= 0) size = 11;
      break;
    case WireStep::kPayload:
      if ((a == 1 || a == 2 || a == 4 || a == 8) && b > 0 && !repeated) size = 18;
      break;
    case WireStep::kRepeat:
      if (!repeated) size = 7;
      break;
  }
  if (size < 0) throw std::invalid_argument("step " + std::to_string(step) + " is invalid");
  return size;
}

int64_t WireTemplate::bound(const WireFields& fields) const {
  int64_t size = sizeof(kEncapsulation) + size_ + row_size_ * std::max(fields.keys.rows, fields.values.rows);
  size += 8 * fields.points.rows * fields.points.columns;
  for (const Payload& payload : fields.payloads) size += payload.size;
  return size;
}

WireTemplate::Result WireTemplate::write(const WireFields& fields, uint8_t* out) const {
  std::memcpy(out, kEncapsulation, sizeof(kEncapsulation));
  Writer writer(out + sizeof(kEncapsulation));
  const auto& [stamp, keys, values, points, payloads] = fields;
  int64_t row = 0, rows = 0, spare = points.rows, gap = 0;
  for (size_t s = 0; s < steps_.size();) {
    const auto& [code, a, b, c] = steps_[s];
    const Result failed{0, 0, row, static_cast<int64_t>(s)};
    ++s;
    const int32_t* key = keys.data + row * keys.columns;
    const double* value = values.data + row * values.columns;
    switch (code) {
      case WireStep::kCheck:
        rows = a ? keys.rows : values.rows;
        if (rows < c || keys.columns < a || (b && (values.columns < b || values.rows < rows))) return failed;
        break;
      case WireStep::kPiece: {
        int64_t choice = a >= 0 ? key[a] : 0;
        if (choice < 0) choice += c;
        if (choice < 0 || choice >= c) return failed;
        const int64_t* span = &spans_[2 * (b + 8 * choice + (writer.offset() & 7))];
        writer.copy(pieces_.data() + span[0], span[1] - span[0]);
        break;
      }
      case WireStep::kStamp:
        writer.put(static_cast<int32_t>(stamp / kNanoseconds - (stamp % kNanoseconds < 0)));
        writer.put(static_cast<uint32_t>((stamp % kNanoseconds + kNanoseconds) % kNanoseconds));
        break;
      case WireStep::kInt: {
        const int64_t number = key[a];  // little-endian, so its first bytes are the integer of b bytes
        writer.align(b);
        writer.copy(&number, b);
        break;
      }
      case WireStep::kDoubles:
        for (int64_t i = 0; i < b; ++i) writer.put(value[a + i]);
        break;
      case WireStep::kSingles:
        for (int64_t i = 0; i < b; ++i) writer.put(static_cast<float>(value[a + i]));
        break;
      case WireStep::kRows: {
        const int64_t begin = key[a], count = key[b];
        spare -= count;
        if (std::min({begin, count, spare}) < 0 || begin + count > points.rows) return failed;
        if (count && points.columns != c) return failed;
        writer.put(static_cast<uint32_t>(count));
        if (count) writer.align(8);
        writer.copy(points.data + begin * c, 8 * count * c);
        break;
      }
      case WireStep::kPayload: {
        const Payload& payload = payloads[c];
        writer.put(static_cast<uint32_t>(payload.size / b));
        if (payload.size) writer.align(a);
        if (!payload.data) gap = writer.offset() + sizeof(kEncapsulation);
        writer.copy(payload.data, payload.size);
        break;
      }
      case WireStep::kRepeat:
        writer.put(static_cast<uint32_t>(rows));
        if (rows == 0) s = a;
        break;
      case WireStep::kNext:
        if (++row < rows) {
          s = a;
        } else {
          row = 0;
        }
        break;
    }
  }
  return {writer.offset() + static_cast<int64_t>(sizeof(kEncapsulation)), gap, 0, -1};
}

}  // namespace tactile

// JSON objects, written and read by name.

internal import Glibc
package import Kept

extension Value {
  /// An object; members without a value are left out.
  package static func object(_ members: KeyValuePairs<ExactString, Value?>) -> Value { object(Array(members)) }

  static func object(_ members: [(ExactString, Value?)]) -> Value {
    .dictionary(ValueDictionary(members.compactMap { key, value in value.map { (key, $0) } }))
  }

  package subscript(member: ExactString) -> Value? { asDictionary?[member] }

  package static func number(_ number: some BinaryInteger) -> Value { .int(Int64(clamping: number)) }
}

extension Timestamp {
  /// The present, in whole seconds.
  package static var now: Timestamp {
    // The clock of the system is within the years that a timestamp has.
    (try? Timestamp(seconds: Int64(time(nil)))) ?? Timestamp.epoch
  }

  private static var epoch: Timestamp { (try? Timestamp(seconds: 0)) ?? now }
}

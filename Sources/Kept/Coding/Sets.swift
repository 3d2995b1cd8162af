// Sets are stored as arrays, in an order that depends on the elements alone, so that equal sets are equal values.

import KeptSchema
import KeptValues

/// An array of the elements, ordered by the bytes of their canonical JSON.
extension Set: Storable, CodedAsStored where Element: Storable {
  /// Reads an array in any order; repeated elements count once.
  ///
  /// Throws `wrongType` for elements that differ in the store and are equal in Swift: one of them would be lost.
  public init(stored value: Value) throws(StoreError) {
    guard case .array(let values) = value else { throw .mismatch(value, asked: .array) }
    var origins: [Element: Value] = [:]
    for (index, value) in values.enumerated() {
      do throws(StoreError) {
        let origin = origins.updateValue(value, forKey: try Element(stored: value))
        if let origin, origin != value { throw Self.merging }
      } catch { throw error.at(.element(index)) }
    }
    self.init(origins.keys)
  }

  public func stored() throws(StoreError) -> Value {
    var members: [(name: ExactString, value: Value)] = []
    members.reserveCapacity(count)
    for element in self {
      let value = try element.stored()
      members.append((ExactString(value.json), value))
    }
    return .array(members.sorted { $0.name < $1.name }.map(\.value))
  }

  public static var schema: Schema? { .array(of: Element.schema) }

  private static var merging: StoreError {
    StoreError(
      .wrongType, "holds two elements that are equal in Swift, so a Set would lose one; read it as an array")
  }
}

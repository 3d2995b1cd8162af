// The state of an encoding. Codable may fill containers in any order, even long after their parents, so a value under
// construction is a tree of slots, which is read once at the end.

import KeptValues

/// A place in a value under construction, shared by all containers that were requested for it.
final class EncodingSlot {
  private enum Form {
    case empty
    case value(Value)
    case elements
    case members
    // Requesting a container cannot throw; the error is thrown at the end.
    case refused(StoreError)
  }

  private var form = Form.empty
  private var elements: [EncodingSlot] = []
  private var members: [(key: ExactString, slot: EncodingSlot)] = []
  /// The number of containers around this place.
  private let depth: Int

  init(depth: Int) { self.depth = depth }

  var count: Int { elements.count }

  /// Makes this an array.
  ///
  /// Further calls have no effect.
  func openElements() {
    if case .elements = form { return }
    form = opened(as: .elements)
  }

  /// Makes this a dictionary.
  ///
  /// Further calls have no effect.
  func openMembers() {
    if case .members = form { return }
    form = opened(as: .members)
  }

  private func opened(as container: Form) -> Form {
    switch form {
    case .refused: form
    case .empty where depth < Limits.nesting: container
    case .empty: .refused(.nestedTooDeep)
    default: .refused(StoreError(.invalid, "is encoded more than once; encode one value or one container for it"))
    }
  }

  /// Appends a slot to the array.
  func append() -> EncodingSlot {
    let slot = EncodingSlot(depth: depth + 1)
    elements.append(slot)
    return slot
  }

  /// Adds a slot with a name; of two with one name the later one is used.
  func member(_ key: any CodingKey) -> EncodingSlot {
    let slot = EncodingSlot(depth: depth + 1)
    members.append((ExactString(key.stringValue), slot))
    return slot
  }
}

extension EncodingSlot {
  /// Writes a value here: as stored, or by its own coding.
  func fill(with value: some Encodable, at place: @autoclosure () -> CodingPlace) throws {
    if let value = value as? any CodedAsStored {
      do throws(StoreError) { put(try value.stored()) } catch { throw refusal(error, of: value, at: place()) }
    } else if depth > Limits.nesting {
      // Here and not at the end: a structure that contains itself would otherwise not terminate.
      throw refusal(.nestedTooDeep, of: value, at: place())
    } else {
      try value.encode(to: SlotEncoder(slot: self, place: place()))
    }
  }

  func put(_ value: Value) {
    if case .empty = form { form = .value(value) } else { form = opened(as: .value(value)) }
  }

  /// The finished value.
  func value(at place: CodingPlace) throws -> Value {
    switch form {
    case .empty: .dictionary([:])
    case .value(let value): value
    case .elements: .array(try elements.enumerated().map { try $1.value(at: place.at($0)) })
    case .members:
      .dictionary(
        ValueDictionary(
          try members.map { ($0.key, try $0.slot.value(at: place.at(StepKey(stringValue: $0.key.text)))) }))
    case .refused(let error): throw refusal(error, of: place.path.description, at: place)
    }
  }

  private func refusal(_ error: StoreError, of value: Any, at place: CodingPlace) -> EncodingError {
    .invalidValue(
      value,
      EncodingError.Context(codingPath: place.path, debugDescription: error.message, underlyingError: error))
  }
}

extension StoreError {
  fileprivate static let nestedTooDeep = StoreError(
    .tooLarge, "is nested more than \(Limits.nesting) levels deep; flatten the structure")
}

// Members in the order in which they came, any of which leaves without a search.

/// A list whose members are known by their identity.
///
/// Invariants: `slots` has the members in their order, with a gap where one has left; gaps are never more than members
/// by more than a few. `places` says which slot is whose; a short list has none, and is searched.
struct IdentityList<Member> {
  private var slots: [(id: ObjectIdentifier, member: Member)?] = []
  private var places: [ObjectIdentifier: Int] = [:]
  private(set) var count = 0

  private static var short: Int { 16 }

  var isEmpty: Bool { count == 0 }

  subscript(id: ObjectIdentifier) -> Member? { place(of: id).flatMap { slots[$0]?.member } }

  /// Adds a member at the end, which is not there yet.
  mutating func append(_ member: Member, id: ObjectIdentifier) {
    if slots.count - count > count + Self.short { closeGaps() }
    slots.append((id, member))
    count += 1
    if slots.count > Self.short { note(from: places.isEmpty ? 0 : slots.count - 1) }
  }

  /// Takes a member out; false: it is not there.
  @discardableResult
  mutating func remove(id: ObjectIdentifier) -> Bool {
    guard let place = place(of: id) else { return false }
    slots[place] = nil
    places[id] = nil
    count -= 1
    if slots.count - count > count + Self.short { closeGaps() }
    return true
  }

  private func place(of id: ObjectIdentifier) -> Int? {
    slots.count > Self.short ? places[id] : slots.firstIndex { $0?.id == id }
  }

  private mutating func note(from first: Int) {
    for place in first..<slots.count { if let id = slots[place]?.id { places[id] = place } }
  }

  private mutating func closeGaps() {
    slots.removeAll { $0 == nil }
    places.removeAll(keepingCapacity: true)
    if slots.count > Self.short { note(from: 0) }
  }
}

extension IdentityList: Sequence {
  func makeIterator() -> some IteratorProtocol<Member> { slots.lazy.compactMap { $0?.member }.makeIterator() }
}

extension IdentityList where Member: AnyObject {
  /// Adds an object at the end.
  mutating func append(_ object: Member) { append(object, id: ObjectIdentifier(object)) }

  /// Takes an object out; false: it is not there.
  @discardableResult
  mutating func remove(_ object: Member) -> Bool { remove(id: ObjectIdentifier(object)) }
}

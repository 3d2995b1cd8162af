// Members in insertion order; each can be removed without a search.

import KeptValues

/// A list whose members are identified by their object identity.
///
/// Invariants: `slots` has the members in order, with a gap where one was removed; the gaps never outnumber the members
/// by more than a few. `places` maps each member to its slot; a short list has no `places` and is searched.
struct IdentityList<Member> {
  private var slots: [(id: ObjectIdentifier, member: Member)?] = []
  private var places: [ObjectIdentifier: Int] = [:]
  private(set) var count = 0

  private static var short: Int { 16 }

  var isEmpty: Bool { count == 0 }

  subscript(id: ObjectIdentifier) -> Member? { place(of: id).flatMap { slots[$0]?.member } }

  /// Appends a member that is not in the list yet.
  mutating func append(_ member: Member, id: ObjectIdentifier) {
    if slots.count - count > count + Self.short { closeGaps() }
    slots.append((id, member))
    count += 1
    if slots.count > Self.short { note(from: places.isEmpty ? 0 : slots.count - 1) }
  }

  /// Removes a member; returns false if it is not in the list.
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
  /// Appends an object.
  mutating func append(_ object: Member) { append(object, id: ObjectIdentifier(object)) }

  /// Removes an object; returns false if it is not in the list.
  @discardableResult
  mutating func remove(_ object: Member) -> Bool { remove(id: ObjectIdentifier(object)) }
}

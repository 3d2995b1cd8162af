// The last transaction that a machine has sent, so that the result is known although the answer is lost.
//
// Every transaction of a machine compares the fence of that machine, and puts the number of the transaction into it. So
// its transactions are ordered, the fence shows which was the last, and once the fence has changed, no earlier one can
// arrive.

internal import Etcd
internal import FoundationEssentials
internal import Kept

/// The fence of a machine, as etcd has it.
struct Fence: Sendable, Hashable {
  /// The revision of its last change; 0 if it is absent.
  var revision: Int64
  /// The transaction that has put it; nil if none has.
  var number: String?

  init(revision: Int64, number: String?) { (self.revision, self.number) = (revision, number) }

  init(_ item: Item?) {
    self.init(
      revision: item?.revision ?? 0,
      number: item.flatMap { try? Value(json: String(decoding: $0.value, as: UTF8.self)) }?["sent"]?.asString)
  }

  /// The value that a transaction puts.
  static func bytes(_ number: String?) -> Data { Data(Value.object(["sent": number.map { .string($0) }]).json.utf8) }

  /// A number that no other transaction has.
  static func newNumber() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }
}

extension Syncer {
  var fenceKey: String { place.place.fence(of: identity.text) }

  /// Reads the values and the fence.
  func readEverything(_ session: Session) async throws(EtcdError) -> Reading {
    try await session.read([place.range, .key(fenceKey)])
  }

  /// Finds the result of a transaction whose answer was lost, and ensures that it does not arrive later.
  ///
  /// - Parameters:
  ///   - reading: everything, at the present revision.
  ///   - isNew: whether transactions may be on their way that are not noted any more.
  /// - Returns: everything at a revision after which none of them comes.
  func decide(_ reading: Reading, _ session: Session, isNew: Bool = false) async throws -> Reading {
    let undecided = agreements.undecided
    var (reading, found) = (reading, Fence(reading[fenceKey]))
    if undecided.isEmpty, !isNew, isIdentityTaken || found.revision > fence?.revision ?? .max {
      identity.becomeAnother(log)
      (isIdentityTaken, found) = (false, Fence(revision: 0, number: nil))
      reporting.note()
    }
    fence = nil
    while isNew || !undecided.isEmpty, !undecided.contains(where: { $0.value.number == found.number }) {
      if let changed = try await change(found, session) {
        found = changed
        break
      }
      // It has just arrived.
      reading = try await readEverything(session)
      found = Fence(reading[fenceKey])
    }
    try agreements.settle(undecided, found)
    fence = found
    changed.formUnion(undecided.keys)
    // Now nothing of the old identity is on its way.
    if isIdentityTaken { readAllNext() }
    return reading
  }

  /// Changes the fence, so that earlier transactions fail; nil if it has changed already.
  private func change(_ fence: Fence, _ session: Session) async throws -> Fence? {
    do throws(EtcdError) {
      let revision = try await session.change(
        [(fenceKey, Fence.bytes(nil))], ifUnchanged: [(fenceKey, fence.revision)])
      return revision.map { Fence(revision: $0, number: nil) }
    } catch {
      switch error.kind {
      case .noSpace where fence.revision > 0:
        // An etcd without space takes deletions.
        let revision = try await session.change([(fenceKey, nil)], ifUnchanged: [(fenceKey, fence.revision)])
        return revision.map { _ in Fence(revision: 0, number: nil) }
      case .noSpace, .denied:
        // Nor does it accept earlier transactions.
        return fence
      default: throw error
      }
    }
  }
}

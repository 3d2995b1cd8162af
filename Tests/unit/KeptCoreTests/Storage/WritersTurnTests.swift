// The observer of all commits of a storage.

@testable import KeptCore
import KeptSystem
@testable import KeptValues
import Testing

@Suite struct `A storage that others write to` {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func set(_ name: String, _ value: Value) throws -> Batch {
    var batch = Batch()
    batch.edit(try key(name), .set(value))
    return batch
  }

  @Test(arguments: StorageUnderTest.withLocations)
  func `reports each commit while it becomes visible, after those of others`(_ kind: StorageUnderTest) throws {
    let (first, second) = (try #require(kind.open(in: folder) as? any ObservableStorage), try kind.open(in: folder))
    let witness = Witness(first)
    first.report(to: witness)
    _ = try first.commit(set("a", 1))
    _ = try second.commit(set("b", 2))
    _ = try second.commit(set("c", 3))
    _ = try first.commit(set("d", 4))
    _ = try first.commit(set("d", 4))
    #expect(
      witness.seen.read(\.self) == [
        "revision 0 then 1: nothing before, then a at 1", "revision 3 then 4: b and c before, then d at 4",
      ])
  }
}

/// Records the commits that are reported.
private final class Witness: CommitObserver {
  let seen = Monitor<[String]>([])
  private let storage: any Storage

  init(_ storage: any Storage) { self.storage = storage }

  func publish<Failure: Error>(
    _ makeVisible: (_ delivered: Revision?) throws(Failure) -> Publication
  ) throws(Failure) {
    let before = try? storage.revision()
    let publication = try makeVisible(seen.read(\.isEmpty) ? 0 : 1)
    let others: String =
      if case .changed(let delta)? = publication.preceding {
        delta.entries.map(\.key.text).joined(separator: " and ")
      } else { "nothing" }
    let own = publication.commits.flatMap { commit, _ in commit.changes.map { "\($0.key.text) at \(commit.revision)" } }
    let after = try? storage.revision()
    seen.update {
      $0.append(
        "revision \(before ?? 0) then \(after ?? 0): \(others) before, then \(own.joined(separator: ", "))")
    }
  }

  var isObserved: Bool { true }
}

// Publishes documents to etcd, after the checks that machines make.

package import Etcd
package import FoundationEssentials
package import Kept

package struct Publication: Sendable {
  /// Published to the last prefix, and checked together with the others.
  package let group: Group
  /// The new documents; nil removes one.
  package let changes: [DocumentName: Data?]
  /// The revision that the document must have, or 0 if it must not exist.
  package let ifRevision: Int64?
  package let allowsUndeclared: Bool

  package init(_ group: Group, _ changes: [DocumentName: Data?], ifRevision: Int64?, allowsUndeclared: Bool) {
    (self.group, self.changes) = (group, changes)
    (self.ifRevision, self.allowsUndeclared) = (ifRevision, allowsUndeclared)
  }

  /// The state of etcd.
  package struct Present: Sendable {
    package let reading: Reading
    package let reports: [Report]
    /// The keys whose values are not reports.
    package let malformed: [String]
    /// The documents of all prefixes that reported machines follow.
    let others: Reading
  }

  package func read(_ session: Session) async throws -> Present {
    let found = try await session.read(group.documents + [.prefix(place.reports)])
    let (reports, malformed) = found.reports(place)
    let prefixes = Set(reports.flatMap(\.prefixes)).subtracting(group.prefixes)
    let places = prefixes.sorted().prefix(Group.mostPrefixes).map { Place($0, group.identifier) }
    let others = try await session.read(places.isEmpty ? group.documents : places.flatMap(\.documents))
    return Present(reading: found, reports: reports, malformed: malformed, others: others)
  }

  /// Throws the first reason why machines would refuse it.
  package func check(_ present: Present) throws(StoreError) {
    let documents = present.reading.documents
    for (name, value) in changes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let revision = present.reading[place.key(name)]?.revision ?? 0
      if let ifRevision, ifRevision != revision {
        throw StoreError(
          .conflict, "\(place.key(name)) has revision \(revision), not \(ifRevision); review it, and publish again")
      }
      if let value, value.count > Self.largestDocument {
        throw StoreError(
          .tooLarge, "\(name.rawValue) is \(value.count) bytes long; at most \(Self.largestDocument) are allowed")
      }
    }
    let resolution = Resolution(group, changed(documents))
    if let refusal = Self.news(resolution, before: Resolution(group, documents)).first {
      throw StoreError(.invalid, "\(refusal.document.rawValue) under \(refusal.prefix) is invalid: \(refusal.reason)")
    }
    guard !allowsUndeclared else { return }
    for layer in DocumentName.layers {
      guard case let bytes?? = changes[layer] else { continue }
      let document = try LayerDocument(bytes, layer, declared: resolution.declared)
      if let key = document.undeclared(in: resolution.declared).first {
        throw StoreError(.invalid, key: key, "is not declared; correct its name, declare it, or use --undeclared")
      }
    }
  }

  /// The reported machines that would refuse it, with the reason.
  package func refusing(_ present: Present) -> [(host: String, reason: String)] {
    present.reports.compactMap { report in
      guard let group = try? Group(group.identifier, prefixes: report.prefixes) else { return nil }
      let documents = present.others.documents.merging(present.reading.documents) { $1 }
      let refusals = Self.news(Resolution(group, changed(documents)), before: Resolution(group, documents))
      return refusals.first.map { (report.host, "\($0.document.rawValue) under \($0.prefix): \($0.reason)") }
    }
  }

  /// Publishes; returns the new revision, or nil if nothing has changed.
  ///
  /// Throws `conflict` if a document has changed since it was read.
  package func commit(_ session: Session, _ present: Present) async throws -> Int64? {
    // The same document is a change for machines that keep a later one than a restored etcd has.
    let news = changes.filter { name, value in
      let item = present.reading[place.key(name)]
      return item?.value != value
        || item.map { item in present.reports.contains { $0.documents[name]?.revision ?? 0 > item.revision } } ?? false
    }
    guard !news.isEmpty else { return nil }
    // Those that were only read, too: they were checked against each other.
    let revisions = group.places.flatMap { place in
      DocumentName.allCases.map { name in
        (key: place.key(name), revision: present.reading[place.key(name)]?.revision ?? 0)
      }
    }
    let values = news.map { (key: place.key($0.key), value: $0.value) }
    let revision: Int64?
    do throws(EtcdError) { revision = try await session.change(values, ifUnchanged: revisions) } catch {
      guard error.isOfOneMember || error.kind == .noSpace else { throw error }
      throw EtcdError(error.kind, "\(error.message); the documents may have been published; publish again to be sure")
    }
    guard let revision else {
      throw StoreError(
        .conflict,
        "another administrator published for \(group.identifier) at the same time, so your changes were not "
          + "published; use --dry-run to see the differences, then publish again")
    }
    return revision
  }

  /// The changes, one on a line, as `kept` shows them.
  package func differences(_ present: Present) -> [String] {
    let declared = Resolution(group, changed(present.reading.documents)).declared
    return changes.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { name, value in
      let old = Self.lines(present.reading[place.key(name)]?.value, name, declared)
      let new = Self.lines(value, name, declared)
      return Set(old.keys).union(new.keys).sorted().compactMap { key -> String? in
        switch (old[key], new[key]) {
        case (nil, let new?): "+ \(name.rawValue) \(key)\(new.text.isEmpty ? "" : ": \(new)")"
        case (let old?, nil): "- \(name.rawValue) \(key)\(old.text.isEmpty ? "" : ": \(old)")"
        case (let old?, let new?) where old != new: "~ \(name.rawValue) \(key): \(old) → \(new)"
        default: nil
        }
      }
    }
  }

  private var place: Place { Place(group.prefixes.last ?? "", group.identifier) }

  private func changed(_ documents: [String: Item]) -> [String: Item] {
    var documents = documents
    for (name, value) in changes {
      let key = place.key(name)
      documents[key] = value.map { Item(key: key, value: $0, revision: 0) }
    }
    return documents
  }

  /// The refusals that a change makes, without those that there were before.
  private static func news(_ after: Resolution, before: Resolution) -> [Refusal] {
    after.refusals.filter { refusal in
      !before.refusals.contains {
        ($0.document, $0.prefix, $0.reason) == (refusal.document, refusal.prefix, refusal.reason)
      }
    }
  }

  /// The parts of a document by name; empty for one that is absent or wrong.
  private static func lines(
    _ bytes: Data?, _ name: DocumentName, _ declared: [KeyName: Declaration]
  ) -> [ExactString: ExactString] {
    var lines: [ExactString: ExactString] = [:]
    guard let bytes else { return lines }
    if name == .declarations {
      for (key, declaration) in (try? Resolution.declarations(bytes)) ?? [] {
        let hasSecret = declaration.isSecret && declaration.defaultValue != nil
        lines[key.exact] = hasSecret ? "(secret)" : ExactString(declaration.json)
      }
      return lines
    }
    guard let document = try? LayerDocument(bytes, name, declared: [:]) else { return lines }
    for member in document.values {
      let isSecret = (try? KeyName(member.key.text)).flatMap { declared[$0]?.isSecret } ?? false
      lines[member.key] = isSecret ? "(secret)" : ExactString(member.value.json)
    }
    for key in document.locked { lines[ExactString("lock of \(key.text)")] = "" }
    for prefix in document.lockedPrefixes { lines[ExactString("lock of \(prefix.text)*")] = "" }
    return lines
  }

  /// etcd's limit for a request is 1.5 MiB, with some room for the rest of the request.
  static let largestDocument = (1_536 - 4) << 10
}

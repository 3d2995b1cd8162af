// The keys of a fleet's documents in etcd, and their readers.

package import Etcd
package import Kept

/// The documents that an administrator publishes for the programs of one identifier.
package enum DocumentName: String, Sendable, CaseIterable {
  case managed, system, declarations

  /// The documents that become files.
  package static let layers: [DocumentName] = [.managed, .system]

  /// The layer of a document that becomes a file.
  var layer: Layer { self == .managed ? .managed : .system }
}

/// Names of keys in etcd, which may be longer than any key of a store.
enum LongName {
  /// A name in messages and reports: the beginning of one that no key can have.
  static func shown(_ name: String) -> String {
    let count = name.utf8.count
    return count <= 1_024 ? name : "\(String(name.unicodeScalars.prefix(100)))… (\(count) bytes)"
  }
}

/// The settings of one identifier under one prefix.
package struct Place: Sendable, Hashable {
  package let prefix: String
  package let identifier: String

  package init(_ prefix: String, _ identifier: String) { (self.prefix, self.identifier) = (prefix, identifier) }

  package func key(_ document: DocumentName) -> String { "\(prefix)/\(identifier)/\(document.rawValue)" }

  /// The prefix of the keys of all reports.
  package var reports: String { "\(prefix)/\(identifier)/status/" }

  /// The report of a machine: two may have one name.
  package func report(of host: String, _ machine: String) -> String { "\(reports)\(host):\(machine)" }

  /// The key with the last transaction of a machine, for `sync`.
  package func fence(of machine: String) -> String { "\(prefix)/\(identifier)/machines/\(machine)" }

  package var documents: [KeyRange] { DocumentName.allCases.map { .key(key($0)) } }
}

/// The identifier, and the prefixes that a group of machines follows: a later one wins.
package struct Group: Sendable, Hashable {
  package let identifier: String
  package let prefixes: [String]

  /// Throws `invalid` for a text that cannot be a part of a key, or of the name of a file.
  package init(_ identifier: String, prefixes: [String]) throws(StoreError) {
    // The rules of a store's identifier. A query for its folder needs a home, which a system service does not have.
    let isPlain = identifier.utf8.allSatisfy { byte in
      switch Unicode.Scalar(byte) {
      case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_": true
      default: false
      }
    }
    guard isPlain, !identifier.isEmpty, identifier.unicodeScalars.first != ".", identifier.utf8.count <= 200 else {
      throw StoreError(
        .invalid, "\"\(identifier)\" is not a valid store identifier; use one such as com.example.player")
    }
    self.identifier = identifier
    self.prefixes = prefixes.map { $0.unicodeScalars.last == "/" ? String($0.unicodeScalars.dropLast()) : $0 }
    guard !prefixes.isEmpty, self.prefixes.allSatisfy({ !$0.isEmpty }) else {
      throw StoreError(.invalid, "a prefix is empty or only /; use the first part of the keys in etcd, such as /kept")
    }
    for (place, prefix) in self.prefixes.enumerated() where self.prefixes[..<place].contains(prefix) {
      throw StoreError(.invalid, "the prefix \(prefix) is given twice; use each prefix once")
    }
    guard prefixes.count <= Self.mostPrefixes else {
      throw StoreError(.invalid, "\(prefixes.count) prefixes are given; use at most \(Self.mostPrefixes)")
    }
  }

  /// Within etcd's limit of 128 operations in a transaction, three for each prefix.
  package static let mostPrefixes = 32

  package var places: [Place] { prefixes.map { Place($0, identifier) } }
  package var documents: [KeyRange] { places.flatMap(\.documents) }
}

// The combination of the documents for a group of machines.

package import Etcd
package import FoundationEssentials
package import Kept

/// The contents that a layer's file should have.
package enum LayerOutcome: Sendable {
  /// No prefix has a document that is right.
  case absent
  case text(String)
  /// The file stays unchanged: its part of these prefixes is not known, or cannot be combined with the rest.
  case held([String])
}

package struct Resolution: Sendable {
  package private(set) var outcomes: [DocumentName: LayerOutcome] = [:]
  package private(set) var refusals: [Refusal] = []
  package private(set) var declared: [KeyName: Declaration] = [:]
  /// The prefixes whose documents etcd has lost, or has an older version of; their part of the file stays.
  private(set) var lost: [DocumentName: [String]] = [:]
  private let unreadable: Set<Place>

  package init(_ group: Group, _ documents: [String: Item]) {
    self.init(group, documents, files: [:], past: [:], forgotten: [:], unreadable: [])
  }

  /// A document that is wrong, or that cannot be checked because the declarations under its prefix are wrong, holds up
  /// no other: its part of the file stays, so that a mistake unlocks nothing.
  ///
  /// For the same reason, a file whose origin was lost stays while a prefix has no document that is right, unless
  /// nothing is taken from it.
  ///
  /// - Parameters:
  ///   - documents: those that exist.
  ///   - files: the present contents of the files.
  ///   - past: their earlier contents.
  ///   - forgotten: the files whose origin was lost.
  ///   - unreadable: the places that cannot be read.
  init(
    _ group: Group, _ documents: [String: Item], files: [DocumentName: Origin], past: PastDocuments,
    forgotten: [DocumentName: Data], unreadable: Set<Place>
  ) {
    self.unreadable = unreadable
    var declaring: [KeyName: Place] = [:]
    for place in group.places {
      guard let item = documents[place.key(.declarations)] else { continue }
      do throws(StoreError) {
        for (key, declaration) in try Self.declarations(try item.readable()) {
          (declared[key], declaring[key]) = (declaration, place)
        }
      } catch {
        refuse(.declarations, place, item.revision, error)
      }
    }
    for layer in DocumentName.layers {
      var found: [(place: Place, document: LayerDocument)] = []
      var held: [String] = []
      for place in group.places {
        var document: LayerDocument?
        let (item, source) = (documents[place.key(layer)], files[layer]?.sources[place.prefix])
        // A document that is published again, or in a new etcd, has another revision than before.
        let isOlder = item.map { item in
          item.revision < source?.stamp.revision ?? 0
            && past[layer]?[place.prefix]?.contains(PastDocument(item)) == true
        }
        if isOlder ?? source?.isLost ?? false {
          lost[layer, default: []].append(place.prefix)
        } else if !unreadable.contains(place), let item {
          do throws(StoreError) {
            document = try LayerDocument(try item.readable(), layer, declared: declared)
          } catch {
            let declarer = error.key.flatMap { try? KeyName($0) }.flatMap { declaring[$0] } ?? place
            let origin = declarer == place ? "" : "; the key is declared under \(declarer.prefix)"
            refuse(layer, place, item.revision, error, origin)
          }
        }
        if keepsFile(of: place, layer) {
          document = source?.text.flatMap { try? LayerDocument(Data($0.utf8), layer, declared: [:]) }
          if source != nil, document == nil { held.append(place.prefix) }
        }
        if let document { found.append((place, document)) }
        if document == nil, forgotten[layer] != nil { held.append(place.prefix) }
      }
      let merged = LayerDocument.merged(found.map(\.document))
      if let file = forgotten[layer], let old = try? LayerDocument(file, layer, declared: [:]),
        let new = try? LayerDocument(Data(merged.utf8), layer, declared: [:]), new.keepsAll(of: old)
      {
        held = []
      }
      if found.count > 1, let last = found.last?.place {
        // Together they may be too large.
        do throws(StoreError) { try layer.layer.check(merged) } catch {
          held = found.map(\.place.prefix)
          let others = " (together with the document under \(held.dropLast().joined(separator: " and ")))"
          refuse(layer, last, documents[last.key(layer)]?.revision ?? 0, error, others)
        }
      }
      outcomes[layer] = !held.isEmpty ? .held(held) : found.isEmpty ? .absent : .text(merged)
    }
  }

  /// Whether a file keeps its part of a place, because the document in etcd is refused, lost or not known.
  func keepsFile(of place: Place, _ layer: DocumentName) -> Bool {
    unreadable.contains(place) || lost[layer]?.contains(place.prefix) == true
      || refusals.contains { $0.prefix == place.prefix && ($0.document == layer || $0.document == .declarations) }
  }

  package static func declarations(
    _ bytes: Data
  ) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw StoreError(.invalid, "the document is not UTF-8; encode it as UTF-8")
    }
    return try DeclarationList(json: text).declarations
  }

  private mutating func refuse(
    _ name: DocumentName, _ place: Place, _ revision: Int64, _ error: StoreError, _ more: String = ""
  ) {
    refusals.append(
      Refusal(document: name, prefix: place.prefix, revision: revision, reason: error.description + more))
  }
}

extension Item {
  /// Throws if the value was too large for an answer.
  func readable() throws(StoreError) -> Data {
    guard isTooLarge else { return value }
    throw StoreError(
      .tooLarge,
      "the value in etcd is larger than \(Session.largestAnswer >> 20) MiB; make it smaller, or delete the key")
  }
}

extension Reading {
  package var documents: [String: Item] { Dictionary(items.map { ($0.key, $0) }) { $1 } }

  /// The revisions that identify changes.
  package var revisions: [String: Int64] { Dictionary(items.map { ($0.key, $0.revision) }) { $1 } }
}

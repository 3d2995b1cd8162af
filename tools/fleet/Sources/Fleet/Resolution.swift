// What the documents of a group of machines say together.

package import Etcd
package import FoundationEssentials
package import Kept

/// What a layer's file should be.
package enum LayerOutcome: Sendable {
  /// No prefix has a document.
  case absent
  case text(String)
  case refused
}

package struct Resolution: Sendable {
  package private(set) var outcomes: [DocumentName: LayerOutcome] = [:]
  package private(set) var refusals: [Refusal] = []
  package private(set) var declared: [KeyName: Declaration] = [:]

  /// - Parameter documents: the value and the revision of each document that exists.
  package init(_ group: Group, _ documents: [String: (value: Data, revision: Int64)]) {
    for place in group.places {
      guard let (value, revision) = documents[place.key(.declarations)] else { continue }
      do throws(StoreError) {
        for (key, declaration) in try Self.declarations(value) { declared[key] = declaration }
      } catch {
        refuse(.declarations, place, revision, error)
      }
    }
    // Without declarations nothing can be checked.
    let isChecked = refusals.isEmpty
    for layer in DocumentName.layers {
      var sources: [LayerDocument] = []
      var isRefused = !isChecked
      for place in group.places {
        guard let (value, revision) = documents[place.key(layer)] else { continue }
        do throws(StoreError) {
          sources.append(try LayerDocument(value, layer, declared: declared))
        } catch {
          refuse(layer, place, revision, error)
          isRefused = true
        }
      }
      let merged = LayerDocument.merged(sources)
      if sources.count > 1, let last = group.places.last(where: { documents[$0.key(layer)] != nil }) {
        // Together they may be too large.
        do throws(StoreError) { try LayerDocument.checkForm(Data(merged.utf8), layer) } catch {
          refuse(layer, last, documents[last.key(layer)]?.revision ?? 0, error)
          isRefused = true
        }
      }
      outcomes[layer] = isRefused ? .refused : sources.isEmpty ? .absent : .text(merged)
    }
  }

  package static func declarations(
    _ bytes: Data
  ) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw StoreError(.invalid, "it is not UTF-8; encode it as UTF-8")
    }
    return try DeclarationList(json: text).declarations
  }

  private mutating func refuse(_ name: DocumentName, _ place: Place, _ revision: Int64, _ error: StoreError) {
    refusals.append(
      Refusal(document: name, prefix: place.prefix, revision: revision, reason: error.description))
  }
}

extension Reading {
  package var documents: [String: (value: Data, revision: Int64)] {
    Dictionary(items.map { ($0.key, ($0.value, $0.revision)) }) { $1 }
  }

  /// The revisions by which changes are recognised.
  package var revisions: [String: Int64] { Dictionary(items.map { ($0.key, $0.revision) }) { $1 } }
}

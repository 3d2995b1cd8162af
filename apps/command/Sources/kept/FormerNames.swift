// Values that are stored under the former names of keys.

import Kept

enum FormerNames {
  /// Why values stay under former names: those that do not fit the declarations of the keys, each with its key.
  /// - Parameter key: the only key to look at; nil for all.
  static func misfits(at location: String, _ layers: LayerChoice, of key: KeyName? = nil) -> [StoreError] {
    // Declaring a key again returns them. It would move a value that fits, which a store that is only read refuses.
    guard let place = try? StorePlace(location), place.folder != nil,
      let settings = try? StoreAccess.open(location, layers, isReadOnly: true, report: { _ in }),
      let list = try? settings.declarations(prefix: key?.text ?? "").declarations
    else { return [] }
    return list.filter { $0.declaration.formerName != nil && $0.key == key ?? $0.key }.compactMap { key, declaration in
      // A value of its own that does not fit is found elsewhere.
      let own = try? settings.entry(for: key)?.value
      if let own, (try? declaration.admitted(own)) == nil { return nil }
      return try? settings.declare(declaration, forKey: key.text)
    }
  }
}

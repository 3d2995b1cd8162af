// The store and the keys that are kept the same, and the side that wins.

internal import Etcd
package import Kept

/// The side that wins if both have changed a key.
package enum ConflictRule: String, Sendable {
  case etcd, local
}

package struct ConflictRules: Sendable {
  package var general: ConflictRule
  /// For the keys with a prefix; the longest prefix is used.
  package var byPrefix: [ExactString: ConflictRule] = [:]

  package init(general: ConflictRule) { self.general = general }

  func rule(for key: ExactString) -> ConflictRule {
    let rules = byPrefix.filter { key.text.utf8.starts(with: $0.key.text.utf8) }
    return rules.max { $0.key.text.utf8.count < $1.key.text.utf8.count }?.value ?? general
  }
}

package struct SyncOptions: Sendable {
  let group: Group
  /// The location of the store.
  let store: String
  /// The administrator's file of locks; nil for the standard one, or none if the store has no identifier.
  let managed: String?
  /// The folder with the agreements.
  let folder: String
  let rules: ConflictRules
  /// Without one, secrets stay on the machine.
  let secretsKeys: SecretsKeys
  let machine: MachineOptions

  package init(
    group: Group, store: String, managed: String?, folder: String, rules: ConflictRules,
    secretsKeys: SecretsKeys, machine: MachineOptions
  ) {
    (self.group, self.store, self.managed, self.folder) = (group, store, managed, folder)
    (self.rules, self.secretsKeys, self.machine) = (rules, secretsKeys, machine)
  }

  var place: SyncPlace { SyncPlace(Place(group.prefixes.last ?? "", group.identifier)) }
}

/// The keys of etcd that hold a user's settings.
struct SyncPlace: Sendable, Hashable {
  let place: Place
  /// The prefix of all of them.
  let values: String

  init(_ place: Place) { (self.place, values) = (place, "\(place.prefix)/\(place.identifier)/user/") }

  /// The record of the last writer is the one with an empty name: no key of a store is empty, and a watch reports it
  /// together with the values of the same transaction.
  var writer: String { values }

  var range: KeyRange { .prefix(values) }

  func key(_ name: String) -> String { values + name }
}

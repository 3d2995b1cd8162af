// The result of a reader: the settings of a text, and the parts that could not be read as settings. An import is the
// same for an export and for another program's JSON.

import KeptSchema
import KeptValues

/// The content of a text to be imported.
final class Incoming {
  /// The prefix of the keys that are imported.
  var scope: ExactString
  /// The number of bytes of the text, which progress counts.
  let size: Int
  var settings: [Setting]
  /// nil if the text does not mention declarations.
  var declarations: [(key: KeyName, declaration: Declaration)]?
  /// The keys that the text declares secret, and those with unreadable declarations, which may be secret.
  var secrets: Set<KeyName> = []
  /// The separator in the text's keys where an object was split into its members; nil if none was split.
  let separator: String?
  /// The keys of secrets, whose values were left out of the export: they are not changed.
  var omitted: Set<KeyName> = []
  /// The keys of secrets that are encrypted in the export: their values are stored only where the keys are secret.
  var sealed: Set<KeyName> = []
  /// The keys whose values could not be read when they were exported: they are not changed.
  var unreadable: Set<KeyName> = []
  /// Whether it was written without the values of secrets.
  var isWithoutSecrets = false
  /// 0 if there is none.
  var schemaVersion: UInt32 = 0
  /// The errors for what cannot be stored, each with its key.
  var refusals: [StoreError] = []
  let notCarried: [NotCarried]
  /// Why the store takes no secrets, with the code `unavailable`, or only none that the text has encrypted.
  var secretRefusal: StoreError?

  /// - Parameters:
  ///   - scope: the prefix of all keys.
  ///   - settings: the settings; each key occurs once.
  init(
    scope: ExactString, size: Int, settings: [Setting] = [], notCarried: [NotCarried] = [], separator: String? = nil
  ) {
    self.scope = scope
    self.size = size
    self.settings = settings
    self.notCarried = notCarried
    self.separator = separator
  }

  /// Throws if a value that the text has encrypted would be plain, or if a secret cannot be stored.
  func checkSecret(_ change: StoredChange) throws(StoreError) {
    let (isSealed, declaration) = (sealed.contains(change.key), change.new.declaration)
    if isSealed, declaration?.isSecret != true {
      throw StoreError(
        .invalid, key: change.key.text,
        "is encrypted in the export, but is not declared secret here; import the declarations, too, or declare it "
          + "first")
    }
    guard let refusal = secretRefusal, change.isOfValue, change.new.value != nil, declaration?.isSecret == true else {
      return
    }
    // What was damaged need not have been a secret.
    if refusal.code == .unavailable ? declaration != .lost : isSealed { throw refusal }
  }

  struct Setting: Sendable {
    let key: KeyName
    /// The value in its stored form.
    let value: Value
  }
}

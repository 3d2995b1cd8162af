// What a reader hands over: the settings of a text, and what could not be read as a setting. An import is the same for
// an export and for another program's JSON.

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
  /// Keys that the exported store had, without their values: they are not changed.
  var withheld: Set<KeyName> = []
  /// Whether it was written without the values of secrets.
  var isWithoutSecrets = false
  /// 0 if there is none.
  var schemaVersion: UInt32 = 0
  /// The errors for what cannot be stored, each with its key.
  var refusals: [StoreError] = []
  let notCarried: [NotCarried]

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

  struct Setting: Sendable {
    let key: KeyName
    /// The value in the form in which a store keeps it.
    let value: Value
  }
}

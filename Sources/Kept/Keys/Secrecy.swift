// What an error may say of a value: nothing, if its key is declared secret, by the key or in the store.

import KeptCore

extension StoreError {
  /// The same failure, with no word of what was converted: transformers and types say what they like.
  var ofSecret: StoreError { said { _ in "cannot be converted, and of a secret no more is said" } }
}

extension SettingsReading {
  /// Runs a conversion of a value that is, or will be, under a key; what it says of a secret is not told.
  func converting<Result>(
    _ name: KeyName, _ convert: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do throws(StoreError) { return try convert() } catch { throw isSecret(name) ? error.ofSecret : error }
  }

  private func isSecret(_ name: KeyName) -> Bool {
    // Asked only when something has failed; who cannot know says nothing.
    do throws(StoreError) { return try entry(for: name)?.declaration?.isSecret == true } catch { return true }
  }
}

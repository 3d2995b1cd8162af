// Hides values in errors if their key is declared secret, by the key or in the store.

import KeptCore
import KeptValues

extension StoreError {
  /// The error without its message, because transformers and types may quote a value.
  var ofSecret: StoreError { said { _ in "cannot be converted; the value is secret, so the reason is not shown" } }
}

extension SettingsReading {
  /// Converts a value of a key; the message of an error is hidden if the key is secret.
  func converting<Result>(
    _ name: KeyName, _ convert: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do throws(StoreError) { return try convert() } catch { throw isSecret(name) ? error.ofSecret : error }
  }

  private func isSecret(_ name: KeyName) -> Bool {
    // Checked only after a failure; if it cannot be determined, the message is hidden.
    do throws(StoreError) { return try entry(for: name)?.declaration?.isSecret == true } catch { return true }
  }
}

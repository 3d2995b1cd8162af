// A program that prints a key: the command of a password manager.

package import KeptValues

package enum KeyProgram {
  /// Runs the program, never through a shell, and reads the key that it prints.
  package static func key(_ arguments: [String], _ access: ProviderAccess) throws(StoreError) -> LockedBytes {
    guard arguments.first?.begins(with: "/") == true else {
      throw StoreError(.invalid, "the program has no absolute path; give one, such as /usr/bin/pass")
    }
    return try ProgramRun.read(arguments, access) { output throws(StoreError) in
      guard let key = try ProviderKey.read(output) else {
        throw StoreError(.invalid, "it printed \(output.count) bytes, which are not a key; \(ProviderKey.form)")
      }
      return key
    }
  }
}

// Runs the programs of providers.

import CPlatform
import KeptValues

enum ProgramRun {
  /// The longest output that is read: a credential that a TPM has sealed has about two kilobytes.
  private static let outputBytes = 8192
  private static let messageBytes = 200

  /// Runs a program and passes its output to `body`.
  ///
  /// Throws `unavailable` if it fails, is killed or does not end in time.
  /// - Parameters:
  ///   - input: what it reads; nil for nothing.
  ///   - remedy: what to do when it fails with a message. Without it, they may have secrets, and are in no error.
  ///   - silence: what it means that it fails without a message.
  static func read<Result>(
    _ arguments: [String], input: UnsafeBufferPointer<UInt8>? = nil, remedy: String? = nil,
    silence: String = "run it in a terminal to see why", _ access: ProviderAccess,
    _ body: (UnsafeBufferPointer<UInt8>) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard arguments.allSatisfy({ !$0.utf8.contains(0) }) else {
      throw StoreError(.invalid, "an argument of the program contains a NUL; remove it")
    }
    var result: Result?
    _ = try LockedBytes(count: outputBytes) { output throws(StoreError) in
      var message = [UInt8](repeating: 0, count: messageBytes)
      let ended = run(arguments, input, output, &message, access.timeout)
      try check(ended, message.prefix(ended.message), remedy, silence, access.timeout)
      result = try body(UnsafeBufferPointer(rebasing: output[..<ended.output]))
    }
    // It is set, or an error was thrown.
    guard let result else { throw StoreError(.failed, "the program was not run; try again") }
    return result
  }

  private static func run(
    _ arguments: [String], _ input: UnsafeBufferPointer<UInt8>?, _ output: UnsafeMutableBufferPointer<UInt8>,
    _ message: inout [UInt8], _ timeout: Int64
  ) -> kept_program {
    var texts: [CChar] = []
    let starts = arguments.map { argument in
      defer { texts += argument.utf8.map { CChar(bitPattern: $0) } + [0] }
      return texts.count
    }
    return texts.withUnsafeMutableBufferPointer { texts in
      let words = starts.map { start in texts.baseAddress.map { $0 + start } } + [nil]
      return kept_program_run(
        words, input?.baseAddress, input?.count ?? 0, output.baseAddress, output.count, &message, message.count, timeout
      )
    }
  }

  private static func check(
    _ ended: kept_program, _ message: ArraySlice<UInt8>, _ remedy: String?, _ silence: String, _ timeout: Int64
  ) throws(StoreError) {
    let reason: String
    if ended.is_refused {
      reason = "it is not run, because this process may have other rights than its caller; use a key file"
    } else if ended.error != 0 {
      let words = String(cString: strerror(ended.error))
      reason = "it could not be started: \(words); install it, make it executable, or correct its path"
    } else if ended.is_late {
      reason = "it did not end within \(timeout / 1000) seconds, and was killed; answer its question, or try again"
    } else if ended.is_too_long {
      reason = "it printed more than \(outputBytes) bytes; let it print the key alone"
    } else if ended.signal != 0 {
      reason = "it was ended by signal \(ended.signal); run it in a terminal to see why"
    } else if ended.status != 0 {
      // The last line has the reason: libraries warn before.
      let line = message.split(separator: UInt8(ascii: "\n")).last
      if let line, let remedy {
        reason = "it says: \(String(decoding: line, as: UTF8.self)); \(remedy)"
      } else {
        reason = "it ended with status \(ended.status); \(silence)"
      }
    } else {
      return
    }
    throw StoreError(.unavailable, reason)
  }
}

// The settings in command-line arguments: pairs of `-key` and a value, as in Foundation's argument domain, with
// negative numbers and JSON in addition.

package import KeptValues

/// The settings of a command line.
///
/// - The key is the text after one dash: `--volume 3` sets `-volume`. `--volume=3` and `--` are ordinary keys.
/// - A value does not begin with a dash, unless it is a decimal number. Such a number is never a key.
/// - Arguments without a partner are ignored: a bare word, the last `-key`, a `-key` before another. A lone dash and
///   its value are ignored too.
/// - White space around a value is ignored. Of two values for a key the later one applies.
package struct ArgumentLayer: Sendable {
  package let values: [KeyName: TextValue]
  /// An error for each invalid key.
  package let problems: [StoreError]

  /// Parses a complete command line; the program's name at the front is a bare word.
  package init(_ argv: [String]) {
    var values: [KeyName: TextValue] = [:]
    var problems: [StoreError] = []
    var place = 0
    while place + 1 < argv.count {
      let (name, text) = (argv[place], argv[place + 1])
      guard Self.isKey(name), Self.isValue(text) else {
        place += 1
        continue
      }
      place += 2
      if name.utf8.count == 1 { continue }
      do throws(StoreError) {
        let key = try KeyName(String(name.unicodeScalars.dropFirst()))
        values[key] = TextValue(text.withoutOuterSpace)
      } catch {
        problems.append(Self.problem(error))
      }
    }
    self.values = values
    self.problems = problems
  }

  private static func isKey(_ argument: String) -> Bool {
    hasDash(argument) && !NumberText.isDecimal(argument)
  }

  private static func isValue(_ argument: String) -> Bool {
    !hasDash(argument) || NumberText.isDecimal(argument)
  }

  private static func hasDash(_ argument: String) -> Bool { argument.utf8.first == UInt8(ascii: "-") }

  private static func problem(_ error: StoreError) -> StoreError {
    StoreError(error.code, key: error.key, "an argument is ignored: \(error.message)")
  }
}

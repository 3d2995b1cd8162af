// Which arguments of a command line are settings: pairs of `-key` and a value, read as Foundation's argument domain
// reads them, and negative numbers and JSON besides.

/// The settings of a command line.
///
/// - The key is what follows one dash: `--volume 3` sets `-volume`, `--volume=3` and `--` are keys like others.
/// - A value does not begin with a dash, unless it is a decimal number. Such a number is never a key.
/// - What has no partner is ignored: a bare word, the last `-key`, a `-key` before another. So is a dash by itself,
///   with the value behind it.
/// - White space around a value does not count. Of two values for a key the later one does.
package struct ArgumentLayer: Sendable {
  package let values: [KeyName: TextValue]
  /// A sentence for each key that cannot be one.
  package let problems: [StoreError]

  /// Reads a whole command line; the program's name in front is a bare word.
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

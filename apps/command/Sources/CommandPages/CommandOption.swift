// The options of a command, as ArgumentParser describes them.

public import ArgumentParser
import Kept

/// An option or a flag that the help of a command shows.
public struct CommandOption: Equatable {
  /// As they are typed: `-n` and `--limit`.
  public let names: [String]
  /// How the help calls the value; nil for a flag.
  public let valueName: String?
  let isRepeating: Bool
  let abstract: String
  let choices: [String]
  let standard: String?

  public static func all(of command: any ParsableCommand.Type) -> [CommandOption] {
    let description = (try? Value(json: command._dumpHelp()))?.asDictionary?["command"]?.asDictionary
    return description?["arguments"]?.asArray?.compactMap { CommandOption($0.asDictionary ?? [:]) } ?? []
  }

  /// Nil for a word, and for what the help does not show.
  private init?(_ argument: ValueDictionary) {
    guard argument["shouldDisplay"]?.asBool == true, let names = argument["names"]?.asArray else { return nil }
    self.names = names.compactMap { name in
      guard let name = name.asDictionary, let text = name["name"]?.asString else { return nil }
      return (name["kind"]?.asString == "long" ? "--" : "-") + text
    }
    valueName = argument["kind"]?.asString == "option" ? argument["valueName"]?.asString : nil
    isRepeating = argument["isRepeating"]?.asBool == true
    abstract = argument["abstract"]?.asString ?? ""
    choices = argument["allValues"]?.asArray?.compactMap(\.asString) ?? []
    standard = argument["defaultValue"]?.asString
  }
}

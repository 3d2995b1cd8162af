// The parts of pages of the manual, in the language of man.

public enum Roff {
  /// The title of a page, and its first section.
  public static func head(
    _ name: String, _ abstract: String, section number: Int = 1, date: String = "", source: String = ""
  ) -> String {
    let abstract = abstract.prefix(1).lowercased() + abstract.dropFirst().filter { $0 != "`" }
    return ".TH \(argument(name.uppercased())) \(number) \"\(date)\" \"\(source)\"\n"
      + section(
        "NAME", "\(escaped(name)) \\- \(escaped(abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract))\n")
  }

  public static func section(_ title: String, _ text: String) -> String { ".SH \(title)\n\(text)" }

  /// How commands are called.
  public static func synopsis(_ usages: [String]) -> String {
    section("SYNOPSIS", lines(usages.flatMap { $0.split(separator: "\n") }))
  }

  /// Text of the help: paragraphs, where one with wide gaps is a table whose lines stay as they are.
  public static func prose(_ text: String) -> String {
    text.split(separator: "\n\n").map { paragraph in
      paragraph.contains("  ") ? lines(paragraph.split(separator: "\n")) : withCode(String(paragraph)) + "\n"
    }.joined(separator: ".PP\n")
  }

  public static func options(_ options: [CommandOption]) -> String {
    options.map { option in
      let value = option.valueName.map { " \\fI\(escaped($0))\\fR" + (option.isRepeating ? " ..." : "") }
      let choices = option.choices.isEmpty ? nil : "One of \(option.choices.joined(separator: ", "))."
      let standard = option.standard.map { "Without it, \($0.hasSuffix(".0") ? $0.dropLast(2) : $0[...])." }
      let text = [option.abstract, choices, standard].compactMap(\.self)
      return """
        .TP
        \(option.names.map { "\\fB\(escaped($0))\\fR" }.joined(separator: ", "))\(value ?? "")
        \(withCode(text.joined(separator: " ")))

        """
    }.joined()
  }

  /// Text with code in backticks, printed with the code in bold.
  public static func withCode(_ text: String) -> String {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
      index % 2 == 1 ? "\\fB\(escaped(String(part)))\\fR" : escaped(String(part))
    }.joined()
  }

  /// Lines that are printed as they are.
  public static func lines(_ lines: [Substring]) -> String {
    ".nf\n" + lines.map { escaped(String($0)) + "\n" }.joined() + ".fi\n"
  }

  /// Text without instructions of roff, where a dash and quotes are those that can be copied into a shell.
  public static func escaped(_ text: String) -> String {
    var escaped = text.unicodeScalars.first == "." ? "\\&" : ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "'": escaped += "\\(aq"
      case "`": escaped += "\\(ga"
      case "^": escaped += "\\(ha"
      case "~": escaped += "\\(ti"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Text as one argument of an instruction.
  public static func argument(_ text: String) -> String {
    "\"" + escaped(text).split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\(dq") + "\""
  }
}

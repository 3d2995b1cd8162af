// Reference of the keys for people: what the page says, whatever it is written in.

public import Kept

/// A language of pages for people.
public enum PageFormat: String, Sendable {
  case html, markdown, man

  /// The page of a list of declarations; the same list and options give the same text.
  ///
  /// It shows everything that the declarations have, so leave out what must not be seen.
  public func text(of list: DeclarationList, _ options: PageOptions) throws(StoreError) -> String {
    let page = try Page(list, options)
    return switch self {
    case .html: HTMLPage.text(of: page)
    case .markdown: MarkdownPage.text(of: page)
    case .man: ManualPage.text(of: page)
    }
  }
}

/// How the keys can be set.
public struct PageOptions: Sendable {
  /// What has the settings, such as `player`.
  let name: String
  /// The identifier of the store; nil if it is not known.
  let store: String?
  /// The prefix of variables that are read as settings; nil if none are.
  let environmentPrefix: String?
  /// A program that reads its arguments as settings.
  let program: String?

  var shownStore: String { store ?? "STORE" }

  /// - Parameter words: the values of `store`, `env-prefix` and `program`, as far as they are given.
  public init(name: String, _ words: [KeyName: String]) {
    func word(_ name: ExactString) -> String? { words.first { $0.key.exact == name }?.value }
    self.name = name
    (store, environmentPrefix, program) = (word("store"), word("env-prefix"), word("program"))
  }
}

struct Page {
  let name: String
  let introduction = "All settings, with their types, rules and defaults, and how to set them."
  let sections: [Section]

  var title: String { ExactString(name) == "settings" ? "Settings" : "Settings of \(Line.safe(name))" }

  /// Paragraphs, and a table of two columns.
  struct Section {
    let heading: Line
    let anchor: String
    var paragraphs: [Line]
    var rows: [Row]
  }

  struct Row {
    let label: String
    var lines: [Line] = []
    /// A line that can be copied.
    var code: String?
  }

  init(_ list: DeclarationList, _ options: PageOptions) throws(StoreError) {
    name = options.name
    let declared = Set(list.declarations.map(\.key))
    var sections = [Self.layers(options)]
    for (key, declaration) in list.declarations {
      sections.append(try Self.section(key, declaration, options) { declared.contains($0) })
    }
    self.sections = sections
  }

  private static func layers(_ options: PageOptions) -> Section {
    let folder = "/etc/kept/\(options.shownStore)"
    let rows: [(String, Line?)] = [
      ("Managed", "\(code: "\(folder)/managed.json"): the administrator prescribes values and locks keys."),
      ("Arguments", options.program.map { "\(code: "\($0) -KEY VALUE"): one run of the program." }),
      (
        "Environment", options.environmentPrefix.map { "Variables that begin with \(code: $0), when a program starts." }
      ),
      ("User", "The store. \(code: "kept reset \(options.shownStore) KEY") removes a value."),
      ("System", "\(code: "\(folder)/system.json"): the administrator sets other defaults."),
      ("Default", "The default on this page."),
    ]
    return Section(
      heading: "How settings are set", anchor: "layers",
      paragraphs: [
        "A setting has the value of the first layer in this list that has a valid one. \(code: "kept") reads the files "
          + "of the administrator. Programs read these, arguments and variables only if they enable these layers.",
        options.store == nil
          ? "In the examples, replace \(code: "STORE") with the program's store, and \(code: "VALUE") with a value."
          : "In the examples, replace \(code: "VALUE") with a value.",
      ],
      rows: rows.compactMap { label, line in line.map { Row(label: label, lines: [$0]) } })
  }

  private static func section(
    _ key: KeyName, _ declaration: Declaration, _ options: PageOptions, isDeclared: (KeyName) -> Bool
  ) throws(StoreError) -> Section {
    let words = try Value(json: "{\"$literal\":\(declaration.json)}").asDictionary ?? ValueDictionary()
    let other = try words["replacedBy"]?.asString.map { text throws(StoreError) in try KeyName(text) }
    let rows: [(String, [Line])] = [
      ("Type", [Line(stringLiteral: declaration.type.description)]),
      ("Rules", RuleText.lines(words)),
      ("Default", [declaration.defaultValue].compactMap { $0.map { "\(code: RuleText.shown($0))" } }),
      ("Since", RuleText.texts(words, "since")),
      ("Formerly", [declaration.formerName].compactMap { $0.map { Line($0) } }),
      (
        "Deprecated",
        words["deprecated"] != true
          ? [] : [other.map { "Set \(Line($0, linked: isDeclared($0))) instead." } ?? "Do not set it any more."]
      ),
      ("Secret", declaration.isSecret ? ["Its value is left out of errors, logs and exports."] : []),
    ]
    return Section(
      heading: Line(key), anchor: anchor(of: key), paragraphs: RuleText.texts(words, "summary", "title", "description"),
      rows: rows.filter { !$0.1.isEmpty }.map { Row(label: $0.0, lines: $0.1) }
        + Examples(key, declaration, words, options).rows)
  }

  /// An identifier of HTML, different for each key.
  static func anchor(of key: KeyName) -> String {
    "key-"
      + key.text.utf8.map { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"):
          String(UnicodeScalar(byte))
        default: "_" + String.digits(byte, 16, 2)
        }
      }.joined()
  }
}

/// Text with code and links in it.
struct Line: ExpressibleByStringInterpolation {
  struct Span {
    let text: String
    var isCode = false
    var anchor: String?
  }

  private(set) var spans: [Span]

  init(stringLiteral text: String) { spans = [Span(text: text)] }
  init(stringInterpolation: StringInterpolation) { spans = stringInterpolation.spans }

  /// The name of a key, with a link to its section.
  init(_ key: KeyName, linked: Bool = false) {
    spans = [Span(text: Self.safe(key.text), isCode: true, anchor: linked ? Page.anchor(of: key) : nil)]
  }

  static func joined(_ lines: [Line], _ separator: Line) -> Line {
    var line = separator
    line.spans = Array(lines.map(\.spans).joined(separator: separator.spans))
    return line
  }

  static func + (line: Line, more: Line) -> Line { joined([line, more], "") }

  var text: String { spans.map(\.text).joined() }

  /// Text in one line, without characters that hide or rearrange others.
  static func safe(_ text: String) -> String { DisplayText.line(text).escapingMarks() }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var spans: [Span] = []

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ text: String) { spans.append(Span(text: text)) }
    mutating func appendInterpolation(_ line: Line) { spans += line.spans }
    mutating func appendInterpolation(code text: String) {
      spans.append(Span(text: text.isEmpty ? "\"\"" : Line.safe(text), isCode: true))
    }
    /// Text of a declaration, whose white space is that of its file.
    mutating func appendInterpolation(foreign text: String) {
      let words = text.unicodeScalars.split { $0.properties.isWhitespace }.map { String($0) }
      spans.append(Span(text: Line.safe(words.joined(separator: " "))))
    }
  }
}

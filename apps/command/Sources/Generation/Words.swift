// How the names of keys become identifiers.

import Kept

/// The words of a name, in lower case: `audio.maxVolume` has three.
struct Words {
  private(set) var list: [String]

  /// Words begin at a capital, and behind everything that is neither an ASCII letter nor a digit; another character is
  /// written as its number.
  init(of text: String) {
    list = []
    var (word, last, isAfterCapital) = ("", Kind.other, false)
    for scalar in text.unicodeScalars {
      let kind = Kind(scalar)
      let isCapital = kind == .capital
      if kind == .other || isCapital && last != .capital {
        if !word.isEmpty { list.append(word) }
        word = ""
      } else if kind == .small, last == .capital, isAfterCapital, let capital = word.popLast() {
        // The last capital of `HTTPPort` begins a word.
        if !word.isEmpty { list.append(word) }
        word = String(capital)
      }
      isAfterCapital = isCapital && last == .capital
      last = kind
      if kind == .foreign {
        word += "u" + String(scalar.value, radix: 16)
      } else if kind != .other {
        word += String(scalar).lowercased()
      }
    }
    if !word.isEmpty { list.append(word) }
  }

  /// The words of a name that a user has given.
  init(given name: String) throws(StoreError) {
    let kinds = name.unicodeScalars.map(Kind.init)
    guard !name.isEmpty, zip(kinds, name.unicodeScalars).allSatisfy({ $0 != .foreign && ($0 != .other || $1 == "_") }),
      kinds.first(where: { $0 != .other }) != .digit, kinds.contains(where: { $0 != .other })
    else {
      throw StoreError(.invalid, "\"\(name)\" is not a name; use ASCII letters, digits and _, and begin with a letter")
    }
    self.init(of: name)
  }

  private init(_ list: [String]) { self.list = list }

  static func + (words: Words, more: Words) -> Words { Words(words.list + more.list) }

  var isEmpty: Bool { list.isEmpty }

  /// As in `audio_volume`.
  var snake: String { list.joined(separator: "_") }
  /// As in `AUDIO_VOLUME`.
  var capitals: String { snake.uppercased() }
  /// As in `AudioVolume`.
  var title: String { list.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() }
  /// As in `audioVolume`.
  var camel: String { (list.first ?? "") + Words(Array(list.dropFirst())).title }
  /// Whether an identifier cannot begin with it.
  var beginsWithDigit: Bool { list.first?.unicodeScalars.first.map { Kind($0) == .digit } ?? true }

  private enum Kind {
    case small, capital, digit, foreign, other

    init(_ scalar: Unicode.Scalar) {
      switch scalar {
      case "a"..."z": self = .small
      case "A"..."Z": self = .capital
      case "0"..."9": self = .digit
      case let scalar where !scalar.isASCII: self = .foreign
      default: self = .other
      }
    }
  }
}

/// The identifiers of a file, each with the key that it belongs to.
struct Names {
  private var owners: [ExactString: KeyName?] = [:]

  /// - Parameter reserved: what the file itself needs.
  init(reserved: [String]) { for name in reserved { owners[ExactString(name)] = .some(nil) } }

  func has(_ name: String) -> Bool { owners[ExactString(name)] != nil }

  /// Throws `invalid` if the identifier is taken.
  mutating func claim(_ name: String, for key: KeyName) throws(StoreError) {
    guard let owner = owners.updateValue(key, forKey: ExactString(name)) else { return }
    let other = owner.map { "as is \"\(CommentText.of($0.text))\"" } ?? "which the generated code needs for itself"
    throw StoreError(
      .invalid, key: key.text,
      "would be named \(name), \(other); give it another name with --as \(Shell.quoted("\(key.text)=NAME"))")
  }
}

extension Shape.Choices {
  /// The words of each choice, which differ.
  ///
  /// Throws `invalid` for choices whose words are equal even when every character is written as its number.
  func named() throws(StoreError) -> [(words: Words, value: Value)] {
    let plain = values.map(Self.words)
    let counts = plain.reduce(into: [:]) { counts, words in counts[words.snake, default: 0] += 1 }
    var (names, seen): ([(words: Words, value: Value)], Set<ExactString>) = ([], [])
    for (words, value) in zip(plain, values) {
      let words = counts[words.snake] == 1 || value.asString == nil ? words : Self.exactWords(value.asString ?? "")
      // Without _, because camel case joins the words.
      guard seen.insert(ExactString(words.camel.lowercased())).inserted else {
        throw StoreError(
          .invalid, "has two choices that become the name \(words.snake), one of them \(value.json); rename one of them"
        )
      }
      names.append((words, value))
    }
    return names
  }

  private static func words(of value: Value) -> Words {
    guard let text = value.asString else {
      let number = value.asInt64 ?? 0
      return Words(of: number < 0 ? "minus \(number.magnitude)" : "value \(number)")
    }
    if text.isEmpty { return Words(of: "empty") }
    let words = Words(of: text)
    if words.isEmpty { return exactWords(text) }
    return words.beginsWithDigit ? Words(of: "value") + words : words
  }

  private static func exactWords(_ text: String) -> Words {
    let scalars = text.unicodeScalars.map { scalar in
      "a"..."z" ~= scalar || "0"..."9" ~= scalar ? String(scalar) : "u" + String(scalar.value, radix: 16)
    }
    let word = Words(of: scalars.joined())
    return word.beginsWithDigit ? Words(of: "value") + word : word
  }
}

extension StoreError {
  /// The error with the key that it is about.
  func naming(_ key: KeyName) -> StoreError { StoreError(code, key: key.text, message) }
}

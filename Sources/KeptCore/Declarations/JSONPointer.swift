// The notation for a place inside a value or a schema in messages: /frame/width, as in RFC 6901.

/// The path from a root to a place inside it.
struct JSONPointer: CustomStringConvertible {
  private var steps: [String] = []

  var isRoot: Bool { steps.isEmpty }

  mutating func enter(_ name: ExactString) { steps.append(name.text) }
  mutating func enter(_ index: Int) { steps.append(index.description) }
  mutating func leave() { steps.removeLast() }

  /// The pointer; of a long one only the end, which is the most specific part.
  var description: String {
    var text = ""
    for step in steps {
      text.unicodeScalars.append("/")
      for scalar in step.unicodeScalars {
        switch scalar {
        case "~": text += "~0"
        case "/": text += "~1"
        default: text.unicodeScalars.append(scalar)
        }
      }
    }
    let scalars = text.unicodeScalars
    return scalars.count <= 100 ? text : "…" + String(String.UnicodeScalarView(scalars.suffix(100)))
  }
}

// The notation for a place inside a value or a schema in messages: /frame/width, as in RFC 6901.

package import KeptValues

/// The path from a root to a place inside it.
package struct JSONPointer: CustomStringConvertible {
  private var steps: [String] = []

  package var isRoot: Bool { steps.isEmpty }

  package mutating func enter(_ name: ExactString) { steps.append(name.text) }
  package mutating func enter(_ index: Int) { steps.append(index.description) }
  package mutating func leave() { steps.removeLast() }

  /// The pointer; of a long one only the end, which is the most specific part.
  package var description: String {
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

// Writes a value as an argument: one element of an XML property list, without white space around it.

import FoundationEssentials
import KeptValues

enum PropertyListElement {
  /// The element of a value, such as `<integer>5</integer>`.
  ///
  /// Throws `invalid` for null and for a NUL, which neither a property list nor an argument can contain.
  static func text(of value: Value) throws(StoreError) -> String {
    switch value {
    case .null:
      throw StoreError(.invalid, "the value contains nil, which a property list cannot hold; leave it out")
    case .bool(let bool): return bool ? "<true/>" : "<false/>"
    case .int(let number): return "<integer>\(number)</integer>"
    case .uint(let number): return "<integer>\(number)</integer>"
    case .double(let number): return "<real>\(real(number))</real>"
    case .string(let text): return "<string>\(try escaped(text))</string>"
    case .bytes(let bytes): return "<data>\(Data(bytes).base64EncodedString())</data>"
    case .date(let date): return "<date>\(try Timestamp(seconds: date.seconds))</date>"
    case .array(let elements): return try array(elements)
    case .dictionary(let members): return try dictionary(members)
    }
  }

  private static func real(_ number: Double) -> String {
    if number.isNaN { return "nan" }
    if number.isInfinite { return number > 0 ? "+infinity" : "-infinity" }
    return number == 0 ? "0.0" : number.seventeenDigits
  }

  private static func escaped(_ text: String) throws(StoreError) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\0": throw StoreError(.invalid, "the text contains a NUL, which would end the argument; remove it")
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func array(_ elements: [Value]) throws(StoreError) -> String {
    if elements.isEmpty { return "<array/>" }
    var inside = ""
    for (index, element) in elements.enumerated() {
      do throws(StoreError) { inside += try text(of: element) } catch { throw error.at(.element(index)) }
    }
    return "<array>\(inside)</array>"
  }

  private static func dictionary(_ members: ValueDictionary) throws(StoreError) -> String {
    if members.isEmpty { return "<dict/>" }
    var inside = ""
    for member in members {
      let name = member.key.text
      do throws(StoreError) {
        inside += "<key>\(try escaped(name))</key>\(try text(of: member.value))"
      } catch { throw error.at(.member(name)) }
    }
    return "<dict>\(inside)</dict>"
  }
}

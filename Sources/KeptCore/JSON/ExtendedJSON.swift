// The objects that stand for what JSON has no kind for: a closed profile of MongoDB's Extended JSON, version 2,
// relaxed.
//
//   {"$numberULong":"18446744073709551615"}            an integer above Int64.max
//   {"$numberLong":"42"}                               read only: an integer
//   {"$numberDouble":"NaN"}, "Infinity", "-Infinity"   a double that is no number
//   {"$binary":{"base64":"AAEC","subType":"00"}}       bytes
//   {"$date":"2026-11-20T23:44:01.25Z"}                a date
//   {"$literal":{"$a":1}}                              the dictionary inside, whose own keys mean nothing special

import CJSON

extension ExactString {
  /// Whether a key is one that only the forms above may have.
  var isReserved: Bool { text.utf8.first == UInt8(ascii: "$") }
}

extension JSONWalk {
  /// The value of an object that has a key with a dollar sign in front.
  mutating func extended(_ members: [JSONMember], at offset: Int) throws(StoreError) -> Value {
    guard members.count == 1, let member = members.first else { return try unknownForm(members, at: offset) }
    switch member.key {
    case "$numberULong": return try unsignedInteger(member.node, at: offset)
    case "$numberLong": return try integer(member.node, at: offset)
    case "$numberDouble": return try double(member.node, at: offset)
    case "$binary": return try bytes(member.node, at: offset)
    case "$date": return try date(member.node, at: offset)
    case "$literal": return try literal(member.node, at: offset)
    default: return try unknownForm(members, at: offset)
    }
  }

  private mutating func unknownForm(_ members: [JSONMember], at offset: Int) throws(StoreError) -> Value {
    guard isSchema else {
      throw StoreError(
        .invalid, offset: offset,
        "an object has a key that begins with $ and is no known form; wrap the object as {\"$literal\":{…}}")
    }
    return try dictionary(members, at: offset)
  }

  private func unsignedInteger(_ node: OpaquePointer?, at offset: Int) throws(StoreError) -> Value {
    guard let text = string(node), let value = UInt64(text), ExactString(value.description) == ExactString(text) else {
      throw StoreError(
        .invalid, offset: offset, "$numberULong takes an integer from 0 to \(UInt64.max) as text, in plain digits")
    }
    return Int64(exactly: value).map { .int($0) } ?? .uint(value)
  }

  private func integer(_ node: OpaquePointer?, at offset: Int) throws(StoreError) -> Value {
    guard let text = string(node), let value = Int64(text), ExactString(value.description) == ExactString(text) else {
      throw StoreError(
        .invalid, offset: offset,
        "$numberLong takes an integer from \(Int64.min) to \(Int64.max) as text, in plain digits")
    }
    return .int(value)
  }

  private func double(_ node: OpaquePointer?, at offset: Int) throws(StoreError) -> Value {
    switch string(node).map({ ExactString($0) }) {
    case "NaN": return .double(.nan)
    case "Infinity": return .double(.infinity)
    case "-Infinity": return .double(-.infinity)
    default:
      throw StoreError(
        .invalid, offset: offset,
        "$numberDouble takes \"NaN\", \"Infinity\" or \"-Infinity\"; write other numbers bare, such as 1.5")
    }
  }

  private mutating func bytes(_ node: OpaquePointer?, at offset: Int) throws(StoreError) -> Value {
    guard json_object_get_type(node) == json_type_object, json_object_object_length(node) == 2 else {
      throw Self.malformedBinary(at: offset)
    }
    _ = try containerOffset()
    var base64: String?
    var subType: String?
    for member in JSONMember.all(of: node) {
      if member.key == "base64" { base64 = string(member.node) }
      if member.key == "subType" { subType = string(member.node) }
    }
    guard let base64, let subType, ExactString(subType) == "00" else { throw Self.malformedBinary(at: offset) }
    guard let bytes = Base64.decode(base64) else {
      throw StoreError(
        .invalid, offset: offset,
        "base64 takes the standard alphabet (A-Z a-z 0-9 + /), padded with = to a multiple of 4 characters")
    }
    return .bytes(bytes)
  }

  private static func malformedBinary(at offset: Int) -> StoreError {
    StoreError(.invalid, offset: offset, "$binary takes exactly {\"base64\":\"…\",\"subType\":\"00\"}")
  }

  private func date(_ node: OpaquePointer?, at offset: Int) throws(StoreError) -> Value {
    guard let text = string(node) else {
      throw StoreError(.invalid, offset: offset, "$date takes text such as \"2026-11-20T23:44:01.25Z\"")
    }
    do {
      return .date(try Timestamp(text: text))
    } catch {
      throw StoreError(error.code, offset: offset, error.message)
    }
  }

  private mutating func literal(_ node: OpaquePointer?, at offset: Int) throws(StoreError) -> Value {
    guard json_object_get_type(node) == json_type_object else {
      throw StoreError(.invalid, offset: offset, "$literal takes an object, whose keys are then taken as they are")
    }
    return try dictionary(JSONMember.all(of: node), at: try containerOffset())
  }

  /// The text of a node if it is a string.
  private func string(_ node: OpaquePointer?) -> String? {
    json_object_get_type(node) == json_type_string ? text(node) : nil
  }
}

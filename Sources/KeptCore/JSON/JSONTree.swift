// json-c's part: it builds a tree of a text that the scan has accepted, and the walk turns the tree into values.

import CJSON

/// A text as json-c's objects.
///
/// They never leave the call that made them: their reference counts are not atomic.
struct JSONTree: ~Copyable {
  /// nil is JSON's null.
  let root: OpaquePointer?

  init(_ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    // json-c counts a level for the scalars inside the innermost container.
    guard let tokener = json_tokener_new_ex(Int32(JSONScanner.bracketNesting + 2)) else {
      throw StoreError(.failed, "there is not enough memory to read the JSON text")
    }
    defer { json_tokener_free(tokener) }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8)
    let text = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
    var root = json_tokener_parse_ex(tokener, text, Int32(bytes.count))
    if json_tokener_get_error(tokener) == json_tokener_continue {
      // A number at the end is complete only with the byte behind it.
      root = json_tokener_parse_ex(tokener, "", 1)
    }
    let status = json_tokener_get_error(tokener)
    guard status == json_tokener_success else {
      throw StoreError(
        .invalid, offset: json_tokener_get_parse_end(tokener),
        "json-c cannot read the JSON text: \(String(cString: json_tokener_error_desc(status)))")
    }
    self.root = root
  }

  deinit { json_object_put(root) }
}

/// The walk over a tree, in the order of the text, so that the scan's findings can be handed out one by one.
struct JSONWalk {
  private var containers: [Int].Iterator
  private var doubles: [Double].Iterator
  private var depth = 0
  /// Whether the text is a JSON Schema, whose words may begin with a dollar sign.
  let isSchema: Bool

  init(_ findings: JSONFindings, isSchema: Bool = false) {
    self.isSchema = isSchema
    containers = findings.containers.makeIterator()
    doubles = findings.doubles.makeIterator()
  }

  mutating func value(_ node: OpaquePointer?) throws(StoreError) -> Value {
    switch json_object_get_type(node) {
    case json_type_null: return .null
    case json_type_boolean: return .bool(json_object_get_boolean(node) != 0)
    // json-c clamps what is out of range, but the scan lets nothing through that is.
    case json_type_int: return .int(json_object_get_int64(node))
    case json_type_double: return .double(try nextFinding(&doubles))
    case json_type_string: return .string(text(node))
    case json_type_array: return try array(node)
    default: return try object(node)
    }
  }

  private mutating func array(_ node: OpaquePointer?) throws(StoreError) -> Value {
    try enter(at: try containerOffset())
    var elements: [Value] = []
    let count = json_object_array_length(node)
    elements.reserveCapacity(count)
    for index in 0..<count { elements.append(try value(json_object_array_get_idx(node, index))) }
    depth -= 1
    return .array(elements)
  }

  private mutating func object(_ node: OpaquePointer?) throws(StoreError) -> Value {
    let offset = try containerOffset()
    let members = JSONMember.all(of: node)
    return members.contains { $0.key.isReserved }
      ? try extended(members, at: offset)
      : try dictionary(members, at: offset)
  }

  mutating func dictionary(_ members: [JSONMember], at offset: Int) throws(StoreError) -> Value {
    try enter(at: offset)
    var pairs: [(ExactString, Value)] = []
    pairs.reserveCapacity(members.count)
    for member in members { pairs.append((member.key, try value(member.node))) }
    depth -= 1
    return .dictionary(ValueDictionary(pairs))
  }

  /// The text of a string node; it may hold NULs.
  func text(_ node: OpaquePointer?) -> String {
    let start = UnsafeRawPointer(json_object_get_string(node))
    let bytes = UnsafeRawBufferPointer(start: start, count: Int(json_object_get_string_len(node)))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Counts the containers of the value.
  ///
  /// Those that only spell a kind (`$binary`, `$literal` and so on) are not entered.
  private mutating func enter(at offset: Int) throws(StoreError) {
    guard depth < Limits.nesting else { throw StoreError.nestedTooDeeply(at: offset) }
    depth += 1
  }

  /// Where the container that the walk has come to begins in the text; to be asked once for each.
  mutating func containerOffset() throws(StoreError) -> Int { try nextFinding(&containers) }

  private func nextFinding<Finding>(_ findings: inout IndexingIterator<[Finding]>) throws(StoreError) -> Finding {
    guard let finding = findings.next() else {
      throw StoreError(.failed, offset: 0, "json-c read the JSON text otherwise than Kept did; please report the text")
    }
    return finding
  }
}

/// A member of a JSON object.
struct JSONMember {
  let key: ExactString
  let node: OpaquePointer?

  /// The members of an object in the order of the text.
  static func all(of object: OpaquePointer?) -> [JSONMember] {
    var members: [JSONMember] = []
    members.reserveCapacity(Int(json_object_object_length(object)))
    var place = json_object_iter_begin(object)
    var end = json_object_iter_end(object)
    while json_object_iter_equal(&place, &end) == 0 {
      let key = String(cString: json_object_iter_peek_name(&place))
      members.append(JSONMember(key: ExactString(key), node: json_object_iter_peek_value(&place)))
      json_object_iter_next(&place)
    }
    return members
  }
}

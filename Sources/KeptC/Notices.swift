// The section "Notices" of kept.h: reading the notice that an observer receives. All results are valid during the
// callback.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_notice_revision") @implementation
public func kept_notice_revision(_ notice: OpaquePointer?) -> UInt64 { shown(notice)?.notice.revision ?? 0 }

@_cdecl("kept_notice_first_revision") @implementation
public func kept_notice_first_revision(_ notice: OpaquePointer?) -> UInt64 {
  shown(notice)?.notice.revisions.lowerBound ?? 0
}

@_cdecl("kept_notice_tag") @implementation
public func kept_notice_tag(_ notice: OpaquePointer?) -> UnsafePointer<CChar>? { shown(notice)?.tag }

@_cdecl("kept_notice_time") @implementation
public func kept_notice_time(_ notice: OpaquePointer?) -> Int64 { shown(notice)?.notice.time.nanosecondsSince1970 ?? 0 }

@_cdecl("kept_notice_may_have_missed") @implementation
public func kept_notice_may_have_missed(_ notice: OpaquePointer?) -> Bool {
  shown(notice)?.notice.mayHaveMissed ?? false
}

@_cdecl("kept_notice_origin") @implementation
public func kept_notice_origin(_ notice: OpaquePointer?) -> UInt32 {
  switch shown(notice)?.notice.origin {
  case .store: KEPT_ORIGIN_STORE
  case .process: KEPT_ORIGIN_PROCESS
  case .initial: KEPT_ORIGIN_INITIAL
  case .several: KEPT_ORIGIN_SEVERAL
  case .layer: KEPT_ORIGIN_LAYER
  case .otherProcess, nil: KEPT_ORIGIN_OTHER
  }
}

@_cdecl("kept_notice_count") @implementation
public func kept_notice_count(_ notice: OpaquePointer?) -> Int { shown(notice)?.notice.changes.count ?? 0 }

@_cdecl("kept_notice_key") @implementation
public func kept_notice_key(_ notice: OpaquePointer?, _ index: Int) -> UnsafePointer<CChar>? {
  shown(notice)?.text(index, .key)
}

@_cdecl("kept_notice_old_json") @implementation
public func kept_notice_old_json(_ notice: OpaquePointer?, _ index: Int) -> UnsafePointer<CChar>? {
  shown(notice)?.text(index, .old)
}

@_cdecl("kept_notice_new_json") @implementation
public func kept_notice_new_json(_ notice: OpaquePointer?, _ index: Int) -> UnsafePointer<CChar>? {
  shown(notice)?.text(index, .new)
}

@_cdecl("kept_notice_old") @implementation
public func kept_notice_old(_ notice: OpaquePointer?, _ index: Int) -> OpaquePointer? {
  shown(notice)?.value(index, \.old)
}

@_cdecl("kept_notice_new") @implementation
public func kept_notice_new(_ notice: OpaquePointer?, _ index: Int) -> OpaquePointer? {
  shown(notice)?.value(index, \.new)
}

@_cdecl("kept_notice_layer") @implementation
public func kept_notice_layer(_ notice: OpaquePointer?, _ index: Int) -> UInt32 {
  Layer.code(of: shown(notice)?.change(index)?.newLayer)
}

@_cdecl("kept_notice_secret") @implementation
public func kept_notice_secret(_ notice: OpaquePointer?, _ index: Int) -> Bool {
  shown(notice)?.change(index)?.isSecret ?? false
}

@_cdecl("kept_value_bool") @implementation
public func kept_value_bool(
  _ value: OpaquePointer?, _ out: UnsafeMutablePointer<Bool>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  read(value, out, error, as: "a bool") { $0.asBool }
}

@_cdecl("kept_value_int64") @implementation
public func kept_value_int64(
  _ value: OpaquePointer?, _ out: UnsafeMutablePointer<Int64>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  read(value, out, error, as: "an int64") { $0.asInt64 }
}

@_cdecl("kept_value_uint64") @implementation
public func kept_value_uint64(
  _ value: OpaquePointer?, _ out: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  read(value, out, error, as: "a uint64") { $0.asUInt64 }
}

@_cdecl("kept_value_double") @implementation
public func kept_value_double(
  _ value: OpaquePointer?, _ out: UnsafeMutablePointer<Double>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  read(value, out, error, as: "a double") { $0.asDouble }
}

@_cdecl("kept_value_date") @implementation
public func kept_value_date(
  _ value: OpaquePointer?, _ seconds: UnsafeMutablePointer<Int64>?, _ nanoseconds: UnsafeMutablePointer<Int32>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let seconds = try seconds.required("seconds")
    let nanoseconds = try nanoseconds.required("nanoseconds")
    let date = try value.shown().converted("a date") { $0.asDate }
    seconds.pointee = date.seconds
    nanoseconds.pointee = date.nanoseconds
  }
}

@_cdecl("kept_value_string") @implementation
public func kept_value_string(
  _ value: OpaquePointer?, _ text: UnsafeMutablePointer<UnsafePointer<CChar>?>?, _ length: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try text.required("text")
    let shown = try value.shown()
    var string = try shown.converted("a string") { $0.asString }
    let bytes = string.withUTF8 { text in
      Result { () throws(StoreError) in try shown.content(UnsafeRawBufferPointer(text)) }
    }
    out.pointee = UnsafePointer(try bytes.get().assumingMemoryBound(to: CChar.self))
    length?.pointee = shown.length
  }
}

@_cdecl("kept_value_bytes") @implementation
public func kept_value_bytes(
  _ value: OpaquePointer?, _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?, _ length: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try bytes.required("bytes")
    let count = try length.required("length")
    let shown = try value.shown()
    let found = try shown.converted("bytes") { $0.asBytes }
    out.pointee = try found.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in try shown.content(bytes) }
    }.get()
    count.pointee = shown.length
  }
}

private func shown(_ notice: OpaquePointer?) -> ShownNotice? {
  notice.map { Unmanaged<ShownNotice>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
}

extension Optional where Wrapped == OpaquePointer {
  fileprivate func shown() throws(StoreError) -> ShownValue {
    guard let self else { throw StoreError(.absent, "there is no value on this side of the change") }
    return Unmanaged<ShownValue>.fromOpaque(UnsafeRawPointer(self)).takeUnretainedValue()
  }
}

/// Performs a typed read of a value in a notice.
private func read<Asked>(
  _ value: OpaquePointer?, _ out: UnsafeMutablePointer<Asked>?, _ error: UnsafeMutablePointer<kept_error>?,
  as asked: StaticString, _ convert: (Value) -> Asked?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try out.required("out")
    out.pointee = try value.shown().converted(asked, convert)
  }
}

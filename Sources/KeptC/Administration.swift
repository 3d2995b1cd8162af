// The section "Administration" of kept.h: what a program needs that shows and checks the settings of others.

public import CKept
import KeptCore
import KeptSchema
import KeptValues

@_cdecl("kept_place_json") @implementation
public func kept_place_json(
  _ location: UnsafePointer<CChar>?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try json.required("json")
    out.pointee = try StorePlace(location.text("location")).asValue.newCText()
  }
}

@_cdecl("kept_places_json") @implementation
public func kept_places_json(
  _ folder: UnsafePointer<CChar>?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try json.required("json")
    let places = try StorePlace.all(in: folder == nil ? nil : folder.text("folder"))
    out.pointee = try Value.array(places.map(\.asValue)).newCText()
  }
}

@_cdecl("kept_processes_json") @implementation
public func kept_processes_json(
  _ location: UnsafePointer<CChar>?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try json.required("json")
    out.pointee = try Value.array(StorePlace(location.text("location")).processes().map(\.asValue)).newCText()
  }
}

@_cdecl("kept_findings_json") @implementation
public func kept_findings_json(
  _ location: UnsafePointer<CChar>?, _ options: UnsafePointer<kept_options>?, _ progress: kept_progress_callback?,
  _ context: UnsafeMutableRawPointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try json.required("json")
    let options = try options.map { options throws(StoreError) in try options.storeOptions() } ?? StoreOptions()
    let place = try StorePlace(location.text("location"))
    let found = try place.examine(options: options, progress: transferProgress(progress, context))
    out.pointee = try Value.array(found.findings.map(\.asValue)).newCText()
  }
}

@_cdecl("kept_verify_files_json") @implementation
public func kept_verify_files_json(
  _ location: UnsafePointer<CChar>?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try json.required("json")
    out.pointee = try Value.array(StorePlace(location.text("location")).verifyFiles().map(\.asValue)).newCText()
  }
}

@_cdecl("kept_layer_files_json") @implementation
public func kept_layer_files_json(
  _ store: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, out) = (try store.store(), try json.required("json"))
    out.pointee = try Value.array(store.layerFiles().map(\.asValue)).newCText()
  }
}

@_cdecl("kept_layer_check") @implementation
public func kept_layer_check(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ layer: UInt32, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let bytes = try given(UnsafeRawPointer(try text.required("text")), length)
    guard let layer = Layer(code: layer) else {
      throw StoreError(.invalid, "\(layer) is not a layer with a file; use KEPT_LAYER_MANAGED or KEPT_LAYER_SYSTEM")
    }
    try layer.check(Array(bytes))
  }
}

@_cdecl("kept_text_to_json") @implementation
public func kept_text_to_json(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ type: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try json.required("json")
    let bytes = try given(UnsafeRawPointer(try text.required("text")), length)
    guard let text = String(exactly: bytes) else {
      throw StoreError(.invalid, "the text is not UTF-8; convert it first")
    }
    out.pointee = try Value(text: text, as: type.declaredType()).newCText()
  }
}

@_cdecl("kept_json_to_text") @implementation
public func kept_json_to_text(
  _ json: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?,
  _ text: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try text.required("text")
    let value = try json.value(for: nil)
    let text = value.text(as: try type.declaredType())
    out.pointee = try copied(text.utf8.contains(0) ? value.json : text)
  }
}

@_cdecl("kept_differences_json") @implementation
public func kept_differences_json(
  _ old: OpaquePointer?, _ old_file: UnsafePointer<CChar>?, _ changed: OpaquePointer?,
  _ changed_file: UnsafePointer<CChar>?, _ flags: UInt32, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try json.required("json")
    try checkFlags(flags, KEPT_DIFFERENCES_SECRETS, "KEPT_DIFFERENCES_SECRETS")
    // The keys of a store open the secrets of a backup that it is compared with.
    let before = try old.contents("old", or: old_file, "old_file", for: try? changed.store())
    let after = try changed.contents("changed", or: changed_file, "changed_file", for: try? old.store())
    out.pointee = try before.differences(to: after).asValue(includesSecrets: flags != 0).newCText()
  }
}

extension Optional where Wrapped == OpaquePointer {
  /// The contents of a store or a snapshot, or, for NULL, of a file.
  fileprivate func contents(
    _ name: StaticString, or file: UnsafePointer<CChar>?, _ fileName: StaticString, for other: Store?
  ) throws(StoreError) -> StoreContents {
    guard (self == nil) != (file == nil) else {
      throw StoreError(
        .invalid,
        "the arguments \"\(name)\" and \"\(fileName)\" are both \(self == nil ? "NULL" : "given"); pass one of them")
    }
    if file != nil { return try StoreContents(contentsOf: file.text(fileName), for: other) }
    return if let snapshot = try snapshotOrNil() { try StoreContents(snapshot) } else { try StoreContents(store()) }
  }
}

extension Optional where Wrapped == UnsafePointer<CChar> {
  /// The type that a word of a declaration names; nil for NULL.
  fileprivate func declaredType() throws(StoreError) -> DeclaredType? {
    guard self != nil else { return nil }
    let word = try text("type")
    guard let type = DeclaredType(word: word) else {
      throw StoreError(
        .invalid, "unknown type \"\(Excerpt.of(word))\"; use the type of a declaration, such as integer")
    }
    return type
  }
}

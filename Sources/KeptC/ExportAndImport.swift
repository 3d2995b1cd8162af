// The section "Export and import" of kept.h: a store as a file.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_export_json") @implementation
public func kept_export_json(
  _ store: OpaquePointer?, _ options: UnsafePointer<kept_transfer_options>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, out) = (try store.store(), try json.required("json"))
    out.pointee = try store.exportedText(options.exporting())
  }
}

@_cdecl("kept_export_file") @implementation
public func kept_export_file(
  _ store: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<kept_transfer_options>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    try store.store().export(to: path.text("path"), options.exporting())
  }
}

@_cdecl("kept_import") @implementation
public func kept_import(
  _ store: OpaquePointer?, _ text: UnsafeRawPointer?, _ length: Int,
  _ options: UnsafePointer<kept_transfer_options>?, _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let store = try store.store()
    // C counts are unsigned: a negative number here is a huge one there. None of it is read.
    guard 0...ImportOptions.mostBytes ~= length else {
      throw StoreError(
        .tooLarge, "the text is \(UInt(bitPattern: length)) bytes long; at most \(ImportOptions.mostBytes) are allowed")
    }
    let start = length == 0 ? nil : try text.required("text")
    let bytes = UnsafeRawBufferPointer(start: start, count: length).assumingMemoryBound(to: UInt8.self)
    give(try store.import(bytes, options.importing()), report)
  }
}

@_cdecl("kept_import_file") @implementation
public func kept_import_file(
  _ store: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<kept_transfer_options>?,
  _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    give(try store.store().import(contentsOf: path.text("path"), options.importing()), report)
  }
}

/// Returns a report to the caller, if requested.
///
/// NULL if there is not enough memory: the import is already done and can no longer fail.
private func give(_ made: ImportReport, _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
  report?.pointee = try? made.newCText()
}

extension Optional where Wrapped == UnsafePointer<kept_transfer_options> {
  fileprivate func exporting() throws(StoreError) -> ExportOptions {
    guard
      let given = try known(
        "an export",
        allowing: KEPT_TRANSFER_DECLARATIONS | KEPT_TRANSFER_SECRETS | KEPT_TRANSFER_READABLE | KEPT_TRANSFER_PLAIN,
        "KEPT_TRANSFER_DECLARATIONS, _SECRETS, _READABLE and _PLAIN")
    else { return ExportOptions() }
    return ExportOptions(
      prefix: try given.prefix.textIfAny("prefix") ?? "",
      includesDeclarations: given.flags & KEPT_TRANSFER_DECLARATIONS != 0,
      includesSecrets: given.flags & KEPT_TRANSFER_SECRETS != 0,
      passphrase: try given.passphrase.textIfAny("passphrase"),
      leavesSecretsPlain: given.flags & KEPT_TRANSFER_PLAIN != 0,
      leavesOutUnreadable: given.flags & KEPT_TRANSFER_READABLE != 0,
      progress: transferProgress(given.progress, given.progress_context))
  }

  fileprivate func importing() throws(StoreError) -> ImportOptions {
    let formats = KEPT_TRANSFER_FLAT | KEPT_TRANSFER_NESTED
    guard
      let given = try known(
        "an import",
        allowing: KEPT_TRANSFER_REPLACE | KEPT_TRANSFER_DRY_RUN | KEPT_TRANSFER_DECLARATIONS | formats
          | KEPT_TRANSFER_PLAIN,
        "KEPT_TRANSFER_REPLACE, _DRY_RUN, _DECLARATIONS, _FLAT, _NESTED and _PLAIN")
    else { return ImportOptions() }
    let format: ImportFormat
    switch given.flags & formats {
    case 0: format = .kept
    case KEPT_TRANSFER_FLAT: format = .json
    case KEPT_TRANSFER_NESTED: format = .nestedJSON
    default:
      throw StoreError(.invalid, "KEPT_TRANSFER_FLAT and KEPT_TRANSFER_NESTED cannot be combined; use one of them")
    }
    return ImportOptions(
      format: format, prefix: try given.prefix.textIfAny("prefix") ?? "",
      separator: try given.separator.textIfAny("separator") ?? ".",
      replaces: given.flags & KEPT_TRANSFER_REPLACE != 0, isDryRun: given.flags & KEPT_TRANSFER_DRY_RUN != 0,
      includesDeclarations: given.flags & KEPT_TRANSFER_DECLARATIONS != 0,
      passphrase: try given.passphrase.textIfAny("passphrase"),
      leavesSecretsPlain: given.flags & KEPT_TRANSFER_PLAIN != 0,
      progress: transferProgress(given.progress, given.progress_context))
  }

  /// A copy of the caller's options; nil for NULL.
  private func known(
    _ operation: StaticString, allowing flags: UInt32, _ names: StaticString
  ) throws(StoreError) -> kept_transfer_options? {
    guard let self else { return nil }
    let known = try knownOptions(self, size: self.pointee.size, least: 48, name: "KEPT_TRANSFER_OPTIONS_INIT")
    guard known.flags & ~flags == 0 else {
      throw StoreError(
        .invalid, "the flags \(known.flags & ~flags) are not allowed in \(operation); use only \(names)")
    }
    return known
  }
}

extension Optional where Wrapped == UnsafePointer<CChar> {
  func textIfAny(_ name: StaticString) throws(StoreError) -> String? {
    self == nil ? nil : try text(name)
  }
}

/// A program's callback, called on the thread of the call; nil for NULL.
///
/// The program is responsible for the use of its context.
func transferProgress(_ progress: kept_progress_callback?, _ context: UnsafeMutableRawPointer?) -> TransferProgress? {
  guard let progress else { return nil }
  nonisolated(unsafe) let context = context
  return { done, total in progress(context, UInt64(done), UInt64(total)) == 0 }
}

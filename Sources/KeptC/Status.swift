// The section "Status" of kept.h: the version, the names of statuses, and freeing memory.

public import CKept
import CPlatform
import KeptValues

@_cdecl("kept_version") @implementation
public func kept_version() -> UnsafePointer<CChar>? { StaticText.version }

@_cdecl("kept_status_text") @implementation
public func kept_status_text(_ status: kept_status) -> UnsafePointer<CChar>? {
  StaticText.statuses[status] ?? StaticText.unknownStatus
}

@_cdecl("kept_free") @implementation
public func kept_free(_ memory: UnsafeMutableRawPointer?) { free(memory) }

/// Text that C may keep until the process exits.
private enum StaticText {
  // Written once, never changed and never freed.
  nonisolated(unsafe) static let version = copy(
    "\(KEPT_VERSION_MAJOR).\(KEPT_VERSION_MINOR).\(KEPT_VERSION_PATCH)")
  nonisolated(unsafe) static let unknownStatus = copy(StoreError.Code(rawValue: .min).description)
  nonisolated(unsafe) static let statuses = Dictionary(
    uniqueKeysWithValues: (KEPT_FAILED...KEPT_DEPRECATED).map { ($0, copy(StoreError.Code(rawValue: $0).description)) })

  private static func copy(_ text: String) -> UnsafePointer<CChar>? { ShownText.copy(text) }
}

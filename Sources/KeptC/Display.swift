// The section "Display" of kept.h: text for a terminal, a log or a report.

public import CKept
import KeptCore

@_cdecl("kept_display_text") @implementation
public func kept_display_text(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ form: UInt32,
  _ displayed: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try displayed.required("displayed")
    let bytes = try given(UnsafeRawPointer(try text.required("text")), length)
    guard let text = String(exactly: bytes) else {
      throw StoreError(.invalid, "the text is not UTF-8; convert it first")
    }
    switch form {
    case KEPT_DISPLAY_LINE: out.pointee = try copied(DisplayText.line(text))
    case KEPT_DISPLAY_LINES: out.pointee = try copied(DisplayText.lines(text))
    case KEPT_DISPLAY_JSON: out.pointee = try copied(DisplayText.json(text))
    default: throw StoreError(.invalid, "unknown form \(form); use one of KEPT_DISPLAY_...")
    }
  }
}

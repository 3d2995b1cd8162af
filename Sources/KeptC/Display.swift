// The section "Display" of kept.h: text for a terminal, a log or a report.

public import CKept
import KeptValues

@_cdecl("kept_display_text") @implementation
public func kept_display_text(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ form: UInt32,
  _ displayed: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try displayed.required("displayed")
    let text = try given(text, length)
    switch form {
    case KEPT_DISPLAY_LINE: out.pointee = try copied(DisplayText.line(text))
    case KEPT_DISPLAY_LINES: out.pointee = try copied(DisplayText.lines(text))
    case KEPT_DISPLAY_JSON: out.pointee = try copied(DisplayText.json(text))
    default: throw StoreError(.invalid, "unknown form \(form); use KEPT_DISPLAY_LINE, _LINES or _JSON")
    }
  }
}

@_cdecl("kept_display_cut") @implementation
public func kept_display_cut(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ columns: Int,
  _ cut: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ used: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try cut.required("cut")
    // A size above Int.max arrives as a negative number.
    let line = DisplayText.cut(
      DisplayText.line(try given(text, length)), toColumns: Int(clamping: UInt(bitPattern: columns)))
    out.pointee = try copied(line)
    used?.pointee = DisplayText.columns(line)
  }
}

/// A text of UTF-8.
private func given(_ text: UnsafePointer<CChar>?, _ length: Int) throws(StoreError) -> String {
  let bytes = try given(UnsafeRawPointer(try text.required("text")), length)
  guard let text = String(exactly: bytes) else {
    throw StoreError(.invalid, "the text is not UTF-8; convert it first")
  }
  return text
}

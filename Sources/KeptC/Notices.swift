// The section "Notices" of kept.h: what an observer is told. Everything is valid during the callback.

import CKept
import KeptCore

@_cdecl("kept_notice_revision") @implementation
public func kept_notice_revision(_ notice: OpaquePointer?) -> UInt64 { shown(notice)?.notice.revision ?? 0 }

@_cdecl("kept_notice_origin") @implementation
public func kept_notice_origin(_ notice: OpaquePointer?) -> UInt32 {
  switch shown(notice)?.notice.origin {
  case .store: KEPT_ORIGIN_STORE
  case .process: KEPT_ORIGIN_PROCESS
  case .initial: KEPT_ORIGIN_INITIAL
  case .otherProcess, nil: KEPT_ORIGIN_OTHER
  }
}

@_cdecl("kept_notice_count") @implementation
public func kept_notice_count(_ notice: OpaquePointer?) -> Int { shown(notice)?.notice.changes.count ?? 0 }

@_cdecl("kept_notice_key") @implementation
public func kept_notice_key(_ notice: OpaquePointer?, _ index: Int) -> UnsafePointer<CChar>? {
  shown(notice)?.text(index, \.key)
}

@_cdecl("kept_notice_old_json") @implementation
public func kept_notice_old_json(_ notice: OpaquePointer?, _ index: Int) -> UnsafePointer<CChar>? {
  shown(notice)?.text(index, \.old)
}

@_cdecl("kept_notice_new_json") @implementation
public func kept_notice_new_json(_ notice: OpaquePointer?, _ index: Int) -> UnsafePointer<CChar>? {
  shown(notice)?.text(index, \.new)
}

private func shown(_ notice: OpaquePointer?) -> ShownNotice? {
  notice.map { Unmanaged<ShownNotice>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
}

/// A notice and the C texts that were asked of it; they live as long as it does.
///
/// Used by one thread.
final class ShownNotice {
  struct Texts {
    var key: UnsafePointer<CChar>?
    var old: UnsafePointer<CChar>?
    var new: UnsafePointer<CChar>?
  }

  let notice: Notice
  private lazy var texts = notice.changes.map { change in
    Texts(key: copy(change.key.text), old: change.old.map { copy($0.json) }, new: change.new.map { copy($0.json) })
  }
  private var owned: [UnsafeMutablePointer<CChar>] = []

  init(_ notice: Notice) { self.notice = notice }

  deinit { for text in owned { text.deallocate() } }

  func text(_ index: Int, _ which: KeyPath<Texts, UnsafePointer<CChar>?>) -> UnsafePointer<CChar>? {
    texts.indices.contains(index) ? texts[index][keyPath: which] : nil
  }

  private func copy(_ text: String) -> UnsafePointer<CChar> {
    let bytes = text.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { copy[index] = byte }
    owned.append(copy)
    return UnsafePointer(copy)
  }
}

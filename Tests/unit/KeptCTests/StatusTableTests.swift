// Compares the statuses of kept.h with the codes of StoreError.

import CKept
@testable import KeptValues
import Testing

@testable import KeptC

@Suite struct `The statuses of kept.h` {
  @Test func `are the codes of StoreError`() {
    let pairs: [(kept_status, StoreError.Code)] = [
      (KEPT_ABSENT, .absent), (KEPT_WRONG_TYPE, .wrongType), (KEPT_TYPE_CONFLICT, .typeConflict),
      (KEPT_INVALID, .invalid), (KEPT_LOCKED, .locked), (KEPT_CONFLICT, .conflict), (KEPT_BUSY, .busy),
      (KEPT_NO_SPACE, .noSpace), (KEPT_DENIED, .denied), (KEPT_CORRUPT, .corrupt),
      (KEPT_UNAVAILABLE, .unavailable), (KEPT_CLOSED, .closed), (KEPT_FORKED, .forked),
      (KEPT_TOO_LARGE, .tooLarge), (KEPT_UNSUPPORTED, .unsupported), (KEPT_FAILED, .failed),
    ]
    for (status, code) in pairs {
      #expect(status == code.rawValue)
      #expect(kept_status_text(status).map { String(cString: $0) } == code.description)
    }
    #expect(Set(pairs.map(\.0)) == Set(KEPT_FAILED...KEPT_ABSENT), "every status has its code")
  }
}

// Errors can be caught by their code.

import Kept
import Testing

@Suite struct `A store error` {
  @Test func `is caught by its code`() {
    do {
      throw StoreError(.conflict, "x")
    } catch StoreError.Code.absent {
      Issue.record("not absent")
    } catch StoreError.Code.conflict {
      // The expected one.
    } catch {
      Issue.record("nothing else")
    }
  }
}

// An index that is returned to the spare ones when it is no longer used.

import KeptValues

/// The index of values as one handle reads them, or as they are stored; deinitialization returns it to ``Indexes``.
///
/// Invariant: a handle's view is at the same revision as the storage's own, and both are brought up to date together.
final class IndexView: ReadView, @unchecked Sendable {
  let index: Index

  init() {
    index = Indexes.ofThisProcess.take()
    super.init(index.header)
  }

  deinit { Indexes.ofThisProcess.put(index) }
}

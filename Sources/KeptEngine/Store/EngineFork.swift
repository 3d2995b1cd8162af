// An open store across a fork: the child has the memory of the parent, and takes locks of its own.
//
// The child closes the parent's open files of the pulse and of the folder at once, because the kernel's locks belong to
// an open file: the child would keep them when the parent has ended. A thread that makes a checkpoint lets a fork
// happen at its pauses. It exists only in the parent, which goes on: the child closes the files of that thread.

import CPlatform
import KeptSystem
import KeptValues

/// The parts of an open store that a fork concerns.
///
/// Not the engine itself: counting references to an object that is also referred to weakly takes longer.
final class EngineFork: ForkAware {
  private let lock: Monitor<StoreFile?>
  private let pulse: Pulse
  private let work: Monitor<Engine.Work>
  private let state: Monitor<Engine.State>
  private let folding: Monitor<[StoreFile]>

  init(
    _ lock: Monitor<StoreFile?>, _ pulse: Pulse, _ work: Monitor<Engine.Work>, _ state: Monitor<Engine.State>,
    _ folding: Monitor<[StoreFile]>
  ) {
    (self.lock, self.pulse, self.work, self.state, self.folding) = (lock, pulse, work, state, folding)
  }

  func afterForkInChild() {
    lock.updateQuietly { $0 = nil }
    pulse.afterForkInChild()
    work.updateQuietly { $0 = Engine.Work() }
    folding.updateQuietly { files in
      // The thread that refers to them does not exist here, so nothing else closes them.
      for file in files { kept_engine_close(file.descriptor) }
      files = []
    }
    state.updateQuietly { $0.isForked = true }
  }
}

extension Engine {
  /// Opens the store again in the child of a fork, which keeps what it has read.
  func join(_ state: inout State) throws(StoreError) {
    let (lock, chain, pulse) = try Self.open(folder, fits, waiting: timeoutMilliseconds)
    guard chain.store == state.chain.store, self.pulse.adopt(pulse) else {
      throw StoreError(
        .unavailable,
        "the store in \(shown: folder.path) was replaced after this process was forked; close it, and open it again")
    }
    self.lock.updateQuietly { $0 = lock }
    state.isForked = false
  }

  /// Runs `body` while a fork may happen: it takes no lock, and uses nothing that the child of a fork needs.
  ///
  /// - Parameter files: only the calling thread uses them, which the child does not have: it closes them.
  func outsideGate(_ files: [StoreFile], _ body: () throws(StoreError) -> Void) throws(StoreError) {
    folding.updateQuietly { $0 = files }
    Fork.gate.leave()
    defer {
      Fork.gate.enter()
      folding.updateQuietly { $0 = [] }
    }
    try body()
  }
}

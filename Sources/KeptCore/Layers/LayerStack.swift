// The layers of one handle over time: read when it is opened, read again when a file changes, and always told.

import CPlatform
import Synchronization

/// What a ``Store`` keeps of its layers.
///
/// Invariants: what `view` shows is what `State.layers` say, and both change together, so no reader sees a newer state
/// and then an older one. The handle's word moves after them: a value that is kept while it has not moved is no older
/// one.
// @unchecked for `view`, a word that is only touched atomically.
package final class LayerStack: @unchecked Sendable {
  private struct State {
    var layers = Layers()
    var watches: [FileWatch.Token] = []
    // Of what does not fit each is told once.
    var told: Set<Misfit> = []
    // Defaults were registered at some time: there may be caches that know of no count.
    var hasRegistered = false
    var isEnded = false
  }
  private struct Misfit: Hashable {
    let key: KeyName
    let layer: Layer
  }
  private let state = Monitor(State())
  // Held while files are read, which readers of the store need not wait for; `state` comes after it.
  private let files: Monitor<LayerFiles>
  private let storage: any Storage
  private let hasFiles: Bool
  // Whether a managed layer was asked for, be it readable or not.
  private let mayLock: Bool
  /// The layers that the handle was opened with, beside those that are always there.
  let sources: Set<Layer>
  let environmentPrefix: String?
  private let report: @Sendable (StoreError) -> Void
  /// Called after each change, with no lock held.
  private let tell: @Sendable (LayerStack) -> Void
  // Its word is moved by each change.
  private let handle: ReadContext
  // The index of values as this handle reads them; null while it has no layers. It is never exchanged.
  private let view = Atomic<UnsafeRawPointer?>(nil)
  // After how many forks this process has read the files.
  private let watchedSince = Atomic<UInt64>(Fork.count)

  init(
    _ sources: LayerSources, over storage: any Storage, of handle: ReadContext,
    report: @escaping @Sendable (StoreError) -> Void, tell: @escaping @Sendable (LayerStack) -> Void
  ) {
    self.storage = storage
    self.handle = handle
    self.report = report
    self.tell = tell
    hasFiles = !sources.files.isEmpty
    mayLock = sources.layers.contains(.managed)
    self.sources = sources.layers
    environmentPrefix = sources.environmentPrefix
    files = Monitor(sources.followed)
    guard !sources.layers.isEmpty else { return }
    state.update { state in
      let text = Layers(arguments: sources.arguments, environment: sources.environment)
      state.layers = sources.contents.reduce(text) { $0.replacing($1.0, by: $1.1) }
      // Opened all the same, as by those who bring a storage of their own: until it can be read, nothing may be set.
      if sources.lacksManaged {
        state.layers = state.layers.replacing(.managed, by: .everythingLocked)
      }
      show(state.layers)
    }
    for problem in sources.problems { report(problem) }
    watch(sources.files)
  }

  deinit {
    if let view = view.load(ordering: .acquiring) { Unmanaged<IndexView>.fromOpaque(view).release() }
  }

  /// The layers now.
  var layers: Layers { state.read(\.layers) }

  /// The index to read from in place of the storage's own; nil: there are no layers.
  @inline(__always)
  var index: Unmanaged<IndexView>? { view.load(ordering: .acquiring).map(Unmanaged.fromOpaque) }

  /// A word that moves when a layer changes; nil: none can.
  package var countAddress: UnsafePointer<UInt64>? {
    hasFiles || state.read(\.hasRegistered) ? UnsafePointer(handle.layers) : nil
  }

  /// Whether there is a layer that hides what is written.
  var hasText: Bool { sources.contains(.arguments) || sources.contains(.environment) }

  /// The file of a layer.
  func path(of layer: Layer) -> String? { files.read { $0.path(of: layer) } }

  /// The layers now, with all that there is to say of them.
  var moment: LayerState {
    LayerState(
      layers: layers, sources: sources, environmentPrefix: environmentPrefix, files: files.read(\.self))
  }

  /// In the child of a fork, where nobody has watched the files, reads them once more and lets them be watched again.
  ///
  /// What stands in memory leads here, too: a child trusts none of it (`IndexLoader.afterForkInChild`).
  ///
  /// Called with no lock held, before anything that the layers decide is read, observed or written.
  func watchAgain() {
    guard hasFiles else { return }
    FileWatch.revive()
    guard watchedSince.load(ordering: .acquiring) != Fork.count else { return }
    reread()
    watchedSince.store(Fork.count, ordering: .releasing)
  }

  /// What a key reads as; what a layer holds in vain is reported.
  func resolve(_ key: KeyName, _ entry: Entry?, from highest: Layer = .managed) -> Resolved {
    watchAgain()
    var misfits: [(Layer, StoreError)] = []
    let resolved = layers.resolve(key, entry, from: highest) { misfits.append(($0, $1)) }
    if !misfits.isEmpty { reportOnce(misfits, of: key) }
    return resolved
  }

  /// Throws `locked` for a key that the administrator has locked.
  func checkUnlocked(_ key: KeyName) throws(StoreError) {
    guard mayLock, layers.managed.locks(key) else { return }
    guard let path = path(of: .managed) else {
      throw StoreError(
        .locked, key: key.text,
        "is locked, because the options that name the managed layer are wrong; mend them and open the store again")
    }
    throw StoreError(.locked, key: key.text, "is locked by the managed layer, \(path); nothing was stored")
  }

  /// Registers defaults beside those that are registered; nil takes one back.
  func register(_ defaults: [KeyName: Value?]) {
    state.update { state in
      state.hasRegistered = true
      var registered = state.layers.registered
      for (key, value) in defaults { registered[key] = value }
      take(state.layers.replacing(registered: registered), &state)
    }
    tellOfChange()
  }

  /// Ends it with its handle.
  func end() {
    let watches = state.update { state in
      state.isEnded = true
      defer { state.watches = [] }
      return state.watches
    }
    for watch in watches { watch.end() }
    if let index, let local = storage as? LocalStorage { local.loader.remove(index.takeUnretainedValue()) }
  }

  /// Watches first and reads then: nothing that happens in between is missed.
  private func watch(_ files: [LayerFile]) {
    // Held until end(), which the handle always calls.
    let watches = files.map { file in FileWatch.begin(file.path) { self.reread() } }
    state.update { $0.watches = watches }
    if !files.isEmpty { reread() }
  }

  /// Reads the files that have changed.
  private func reread() {
    let (isNew, problems) = files.update { files in
      let (news, problems) = files.read()
      let isNew = state.update { state in
        let layers = news.reduce(state.layers) { $0.replacing($1.0, by: $1.1) }
        return take(layers, &state)
      }
      return (isNew, problems)
    }
    for problem in problems { report(problem) }
    if isNew { tellOfChange() }
  }

  /// - Returns: whether there is any difference.
  @discardableResult
  private func take(_ layers: Layers, _ state: inout State) -> Bool {
    let different = layers.differences(from: state.layers)
    guard !state.isEnded, !different.isEmpty else { return false }
    state.layers = layers
    // What stands in these now is told anew; a file that was only touched is not.
    state.told = state.told.filter { !different.contains($0.layer) }
    show(layers)
    return true
  }

  private func show(_ layers: Layers) {
    guard let local = storage as? LocalStorage else { return }
    let isNew = index == nil
    let own = index ?? Unmanaged.passRetained(IndexView())
    local.loader.show(LayeredReading(layers: layers), in: own.takeUnretainedValue())
    guard isNew else { return }
    view.store(UnsafeRawPointer(own.toOpaque()), ordering: .releasing)
    handle.show(own.takeUnretainedValue())
  }

  private func tellOfChange() {
    kept_add64(handle.layers, 1)
    tell(self)
  }

  private func reportOnce(_ misfits: [(Layer, StoreError)], of key: KeyName) {
    let news = state.update { state in
      misfits.filter { layer, _ in state.told.insert(Misfit(key: key, layer: layer)).inserted }
    }
    for (layer, error) in news {
      report(error.said { "\($0); the \(layer) layer is skipped for this key" })
    }
  }
}

/// Reads entries under layers.
private struct LayeredReading: EntryReading {
  let layers: Layers

  func value(of key: KeyName, _ entry: Entry?) -> Value? { layers.resolve(key, entry).value }
}

extension Layers {
  /// Those of the layers that can change and have.
  fileprivate func differences(from other: Layers) -> [Layer] {
    let differences: [(Layer, Bool)] = [
      (.managed, managed != other.managed), (.system, system != other.system),
      (.registered, registered != other.registered),
    ]
    return differences.filter(\.1).map(\.0)
  }
}

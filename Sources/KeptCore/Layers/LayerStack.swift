// The layer stack of one handle: read when the handle is opened, read again when a file changes, with each change
// reported.

import CPlatform
import KeptSchema
import KeptSystem
import KeptValues
import Synchronization

/// The layers of a ``Store``.
///
/// Invariants: `view` always matches `State.layers`, and both change together, so no reader sees a newer state and then
/// an older one. The handle's word changes after them: a value that is cached while the word is unchanged is current.
// @unchecked for `view`, a word that is only accessed atomically.
package final class LayerStack: @unchecked Sendable {
  private struct State {
    var layers = Layers()
    var watches: [FileWatch.Token] = []
    // Values that do not fit and were reported; each is reported once.
    var reported: Set<Misfit> = []
    // Keys of variables that were reported as not declared, and those that were found at a revision.
    var reportedVariables: Set<KeyName> = []
    var undeclared: (revision: Revision, variables: [UndeclaredVariable])?
    // Whether defaults were ever registered. If so, caches may exist that do not check the word.
    var hasRegistered = false
    var isEnded = false
  }
  private struct Misfit: Hashable {
    let key: KeyName
    let layer: Layer
  }
  private let state = Monitor(State())
  // Held while files are read, so that readers of the store need not wait for that; `state` is locked after it.
  private let files: Monitor<LayerFiles>
  // nil if the storage keeps no index.
  private let storage: (any FastStorage)?
  private let hasFiles: Bool
  // Whether a thread follows the files; if not, they are read again before each read.
  private let isFollowing: Bool
  // Whether a managed layer was requested, readable or not.
  let mayLock: Bool
  /// The layers that the handle was opened with, without those that every handle has.
  let sources: Set<Layer>
  let environmentPrefix: String?
  private let report: @Sendable (StoreError) -> Void
  /// Called after each change, with no lock held.
  private let notify: @Sendable (LayerStack) -> Void
  // Its word changes with each change of the layers.
  private let handle: ReadContext
  // The values as this handle reads them; null while it has no layers. Once set, it is never replaced.
  private let ownView = Atomic<UnsafeRawPointer?>(nil)
  // The fork count at which this process read the files.
  private let watchedSince = Atomic<UInt64>(Fork.count)

  init(
    _ sources: LayerSources, over storage: (any FastStorage)?, of handle: ReadContext, isFollowing: Bool,
    report: @escaping @Sendable (StoreError) -> Void, notify: @escaping @Sendable (LayerStack) -> Void
  ) {
    self.storage = storage
    self.handle = handle
    self.report = report
    self.notify = notify
    hasFiles = !sources.files.isEmpty
    self.isFollowing = isFollowing
    mayLock = sources.layers.contains(.managed)
    self.sources = sources.layers
    environmentPrefix = sources.environmentPrefix
    files = Monitor(sources.followed)
    guard !sources.layers.isEmpty else { return }
    state.update { state in
      let text = Layers(arguments: sources.arguments, environment: sources.environment)
      state.layers = sources.contents.reduce(text) { $0.replacing($1.0, by: $1.1) }
      // The handle was opened without a readable managed layer, as handles on a custom storage are. Until it can be
      // read, no key may be set.
      if sources.lacksManaged {
        state.layers = state.layers.replacing(.managed, by: .everythingLocked)
      }
      show(state.layers)
    }
    for problem in sources.problems { report(problem) }
    if isFollowing { watch(sources.files) }
  }

  deinit {
    view?.release()
  }

  /// The current layers.
  var layers: Layers { state.read(\.layers) }

  /// The view to read from in place of the storage's own index; nil if there are no layers.
  @inline(__always)
  var view: Unmanaged<ReadView>? { ownView.load(ordering: .acquiring).map(Unmanaged.fromOpaque) }

  /// A word that changes when a layer changes; nil if no layer can change.
  package var countAddress: UnsafePointer<UInt64>? {
    hasFiles || state.read(\.hasRegistered) ? UnsafePointer(handle.layers) : nil
  }

  /// Whether there is a layer that hides written values.
  var hasText: Bool { sources.contains(.arguments) || sources.contains(.environment) }

  /// The file where a layer has a value or a lock for a key.
  func path(of layer: Layer, for key: KeyName) -> String? { files.read { $0.path(of: layer, for: key) } }

  /// The state of each file.
  var fileStates: [LayerFileState] {
    watchAgain()
    return files.read(\.states)
  }

  /// The current layers, with the details that explanations need.
  func layerState(_ undeclared: [UndeclaredVariable]) -> LayerState {
    LayerState(
      layers: layers, sources: sources, environmentPrefix: environmentPrefix, undeclared: undeclared,
      files: files.read(\.self))
  }

  /// Reads the files again in the child of a fork, where no thread watches them, and starts watching them again.
  ///
  /// Reads from memory also lead here, because a child does not trust its inherited memory
  /// (`IndexLoader.afterForkInChild`).
  ///
  /// Called with no lock held, before anything that depends on the layers is read, observed or written.
  func watchAgain() {
    guard hasFiles else { return }
    guard isFollowing else { return reread() }
    do throws(StoreError) { try checkWatch() } catch {
      // Reads from memory do not come here, so they notice no change until then.
      reread()
      return report(error)
    }
    guard watchedSince.load(ordering: .acquiring) != Fork.count else { return }
    reread()
    watchedSince.store(Fork.count, ordering: .releasing)
  }

  /// Throws `failed` if there are files, and no thread watches them.
  func checkWatch() throws(StoreError) {
    guard hasFiles, isFollowing else { return }
    do throws(StoreError) { try FileWatch.revive() } catch {
      throw error.said { "the files of the layers are not watched for changes: \($0)" }
    }
  }

  /// Resolves the value of a key; reports layer values that do not fit.
  func resolve(_ key: KeyName, _ entry: Entry?, from highest: Layer = .managed) -> Resolved {
    watchAgain()
    var misfits: [(Layer, StoreError)] = []
    let resolved = layers.resolve(key, entry, from: highest) { misfits.append(($0, $1)) }
    if !misfits.isEmpty { reportOnce(misfits, of: key) }
    return resolved
  }

  /// Variables that set no declared key, as they were found at a revision of the store.
  func undeclaredVariables(
    at revision: Revision, _ find: () throws(StoreError) -> [UndeclaredVariable]
  ) throws(StoreError) -> [UndeclaredVariable] {
    if let known = state.read(\.undeclared), known.revision == revision { return known.variables }
    let found = try find()
    state.update { $0.undeclared = (revision, found) }
    return found
  }

  /// Whether the variable of a key has not been reported as not declared.
  func isFirstReport(of key: KeyName) -> Bool { state.update { $0.reportedVariables.insert(key).inserted } }

  /// Throws `locked` for a key that the administrator has locked, perhaps under its former name.
  func checkUnlocked(_ key: KeyName, _ declaration: Declaration?) throws(StoreError) {
    guard mayLock, let name = layers.lockedName(of: key, declaration) else { return }
    guard let path = path(of: .managed, for: name) else {
      throw StoreError(
        .locked, key: key.text,
        "is locked, because the options that name the layers are invalid; correct them and open the store again")
    }
    let former = name == key ? "" : ", under its former name \"\(Excerpt.of(name.text))\""
    throw StoreError(.locked, key: key.text, "is locked by the managed layer, \(path)\(former); nothing was changed")
  }

  /// Adds registered defaults; nil removes one.
  func register(_ defaults: [KeyName: Value?]) {
    state.update { state in
      state.hasRegistered = true
      var registered = state.layers.registered
      for (key, value) in defaults { registered[key] = value }
      take(state.layers.replacing(registered: registered), &state)
    }
    tellOfChange()
  }

  /// Ends the layer stack together with its handle.
  func end() {
    let watches = state.update { state in
      state.isEnded = true
      defer { state.watches = [] }
      return state.watches
    }
    for watch in watches { watch.end() }
    if let view { storage?.remove(view.takeUnretainedValue()) }
  }

  /// Starts watching before reading, so that no change in between is missed.
  private func watch(_ files: [LayerFile]) {
    // Held until end(), which the handle always calls.
    var watches = files.map { file in FileWatch.begin(file.path) { self.reread() } }
    // Where a thread watches files, a program that only waits for changes learns that its store was removed.
    if !files.isEmpty, let storage = storage as? any FolderStorage, let folder = try? storage.folder {
      watches.append(FileWatch.begin(folder.shown) { storage.checkPlace() })
    }
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

  /// - Returns: whether anything changed.
  @discardableResult
  private func take(_ layers: Layers, _ state: inout State) -> Bool {
    let different = layers.differences(from: state.layers)
    guard !state.isEnded, !different.isEmpty else { return false }
    state.layers = layers
    // Misfits in the layers that changed are reported again; a file whose contents are unchanged is not reported.
    state.reported = state.reported.filter { !different.contains($0.layer) }
    show(layers)
    return true
  }

  private func show(_ layers: Layers) {
    guard let storage else { return }
    let reading = LayeredReading(layers: layers)
    if let view {
      _ = storage.show(reading, in: view.takeUnretainedValue())
    } else {
      let view = storage.show(reading, in: nil)
      ownView.store(Unmanaged.passRetained(view).toOpaque(), ordering: .releasing)
      handle.show(view)
    }
  }

  private func tellOfChange() {
    kept_add64(handle.layers, 1)
    notify(self)
  }

  private func reportOnce(_ misfits: [(Layer, StoreError)], of key: KeyName) {
    let news = state.update { state in
      misfits.filter { layer, _ in state.reported.insert(Misfit(key: key, layer: layer)).inserted }
    }
    for (layer, error) in news {
      report(error.said { "\($0); the \(layer) layer is skipped for this key" })
    }
  }
}

/// Reads entries under layers.
private final class LayeredReading: EntryReading {
  let layers: Layers

  init(layers: Layers) { self.layers = layers }

  func value(of key: KeyName, _ entry: Entry?) -> Value? { layers.resolve(key, entry).value }
}

extension Layers {
  /// The changeable layers that differ.
  fileprivate func differences(from other: Layers) -> [Layer] {
    let differences: [(Layer, Bool)] = [
      (.managed, managed != other.managed), (.system, system != other.system),
      (.registered, registered != other.registered),
    ]
    return differences.filter(\.1).map(\.0)
  }
}

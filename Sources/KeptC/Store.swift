// The section "Store" of kept.h: opening and closing, and the word for detecting changes.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_open") @implementation
public func kept_open(
  _ location: UnsafePointer<CChar>?, _ options: UnsafePointer<kept_options>?,
  _ store: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(warning: error) { () throws(StoreError) in
    let out = try store.required("store")
    let options = try options.map { options throws(StoreError) in try options.storeOptions() } ?? StoreOptions()
    var warning: StoreError?
    out.pointee = Handles.handle(of: try Store.open(location.text("location"), options: options) { warning = $0 })
    return warning
  }
}

@_cdecl("kept_salvaged") @implementation
public func kept_salvaged(
  _ store: OpaquePointer?, _ quarantine: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try quarantine.required("quarantine")
    guard let note = try store.store().salvaged() else {
      throw StoreError(.absent, "there is no salvage to acknowledge")
    }
    out.pointee = try copied(note.quarantine)
  }
}

@_cdecl("kept_acknowledge_salvage") @implementation
public func kept_acknowledge_salvage(
  _ store: OpaquePointer?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in try store.store().acknowledgeSalvage() }
}

@_cdecl("kept_close") @implementation
public func kept_close(_ store: OpaquePointer?) {
  uncancelled {
    if let transaction = try? store.transaction() { return end(transaction, store) }
    kept_snapshot_end(store)
    guard let handle = store, let store = try? store.store() else { return }
    store.close()
    Handles.transactions.remove { $0.store === store }
    // Last: another thread that closes the store at the same time waits for all this.
    Handles.end(handle)
  }
}

@_cdecl("kept_flush") @implementation
public func kept_flush(_ store: OpaquePointer?, _ error: UnsafeMutablePointer<kept_error>?) -> kept_status {
  boundary(error) { () throws(StoreError) in try store.store().flush() }
}

@_cdecl("kept_store_generation") @implementation
public func kept_store_generation(_ store: OpaquePointer?) -> UnsafePointer<UInt64>? {
  guard let handle = store, !Handles.isNumber(handle) else { return nil }
  return uncancelled { (try? store.store())?.generationAddress ?? Store.unknownGeneration }
}

@_cdecl("kept_store_layers") @implementation
public func kept_store_layers(_ store: OpaquePointer?) -> UnsafePointer<UInt64>? {
  uncancelled { (try? store.store())?.layersAddress }
}

extension UnsafePointer where Pointee == kept_options {
  /// Copies the options.
  ///
  /// A program that was built with a longer struct may set only the members that this version knows. In the shorter
  /// struct of an older program, the missing members are read as 0.
  func storeOptions() throws(StoreError) -> StoreOptions {
    let known = try knownOptions(self, size: pointee.size, least: 16, name: "KEPT_OPTIONS_INIT")
    var options = StoreOptions(
      durability: try Durability(known.durability), busyTimeoutMilliseconds: Int(known.busy_timeout_ms),
      tag: try known.tag.map { tag throws(StoreError) in try Optional(tag).text("tag") })
    try known.addLayers(to: &options)
    switch known.access {
    case KEPT_READ_WRITE: options.isReadOnly = false
    case KEPT_READ_ONLY: options.isReadOnly = true
    default: throw StoreError(.invalid, "unknown access \(known.access); use KEPT_READ_WRITE or KEPT_READ_ONLY")
    }
    switch known.delivery {
    case KEPT_BY_LIBRARY: options.isHostDriven = false
    case KEPT_BY_HOST: options.isHostDriven = true
    default:
      throw StoreError(.invalid, "unknown delivery \(known.delivery); use KEPT_BY_LIBRARY or KEPT_BY_HOST")
    }
    return options
  }
}

/// Copies an options struct of the size that it contains.
///
/// The size must be at least that of its first version, and the bytes after the known members must be 0.
func knownOptions<Options: BitwiseCopyable>(
  _ start: UnsafePointer<Options>, size: Int, least: Int, name: StaticString
) throws(StoreError) -> Options {
  guard size >= least, size <= 4096 else {
    throw StoreError(
      .invalid, "\(UInt(bitPattern: size)) is not a valid size for the options; initialize them with \(name)")
  }
  let given = UnsafeRawBufferPointer(start: start, count: size)
  guard given.dropFirst(MemoryLayout<Options>.size).allSatisfy({ $0 == 0 }) else {
    throw StoreError(.unsupported, "the options request a feature that this version does not have; update the library")
  }
  let known = UnsafeMutablePointer<Options>.allocate(capacity: 1)
  defer { known.deallocate() }
  let bytes = UnsafeMutableRawBufferPointer(start: known, count: MemoryLayout<Options>.size)
  _ = bytes.initializeMemory(as: UInt8.self, repeating: 0)
  bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: given.prefix(bytes.count)))
  return known.pointee
}

/// Refuses reserved bits: they may have a meaning in a later version, which must not be ignored.
func checkReserved(_ reserved: UInt32) throws(StoreError) {
  guard reserved == 0 else {
    throw StoreError(.unsupported, "the field \"reserved\" is \(reserved); set it to 0")
  }
}

extension Durability {
  init(_ durability: UInt32) throws(StoreError) {
    switch durability {
    case KEPT_SHARED: self = .shared
    case KEPT_DURABLE: self = .durable
    default: throw StoreError(.invalid, "unknown durability \(durability); use KEPT_SHARED or KEPT_DURABLE")
    }
  }
}

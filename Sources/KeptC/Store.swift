// The section "Store" of kept.h: opening and closing, and the word that tells whether anything changed.

public import CKept
import KeptCore

@_cdecl("kept_open") @implementation
public func kept_open(
  _ location: UnsafePointer<CChar>?, _ options: UnsafePointer<kept_options>?,
  _ store: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  var warning: StoreError?
  let status = boundary(error) { () throws(StoreError) in
    let out = try store.required("store")
    let options = try options.map { options throws(StoreError) in try options.storeOptions() } ?? StoreOptions()
    out.pointee = Handles.handle(of: try Store.open(location.text("location"), options: options) { warning = $0 })
  }
  guard status == KEPT_OK, let warning else { return status }
  // It is open, and the caller is told what the warning says.
  return boundary(error) { () throws(StoreError) in throw warning }
}

@_cdecl("kept_salvaged") @implementation
public func kept_salvaged(
  _ store: OpaquePointer?, _ quarantine: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try quarantine.required("quarantine")
    guard let note = try store.store().salvage() else {
      throw StoreError(.absent, "nothing was salvaged, or it was acknowledged: nothing need be done")
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
  if let transaction = try? store.transaction() { return end(transaction, store) }
  guard let store = try? store.store() else { return }
  store.close()
  Handles.transactions.withdraw { $0.store === store }
}

@_cdecl("kept_flush") @implementation
public func kept_flush(_ store: OpaquePointer?, _ error: UnsafeMutablePointer<kept_error>?) -> kept_status {
  boundary(error) { () throws(StoreError) in try store.store().flush() }
}

@_cdecl("kept_store_generation") @implementation
public func kept_store_generation(_ store: OpaquePointer?) -> UnsafePointer<UInt64>? {
  guard let store = try? store.store() else { return nil }
  return store.generationAddress
}

extension UnsafePointer where Pointee == kept_options {
  /// Copies the options.
  ///
  /// A program built with a longer struct may use only what this version knows.
  fileprivate func storeOptions() throws(StoreError) -> StoreOptions {
    try checkOptions(self, size: pointee.size, known: MemoryLayout<kept_options>.size, name: "KEPT_OPTIONS_INIT")
    return StoreOptions(
      durability: try Durability(pointee.durability), busyTimeoutMilliseconds: Int(pointee.busy_timeout_ms))
  }
}

/// Checks the size that an options struct gives: not shorter than what this version knows, and where it is longer, 0.
func checkOptions(_ start: UnsafeRawPointer, size: Int, known: Int, name: StaticString) throws(StoreError) {
  guard size >= known, size <= 4096 else {
    throw StoreError(.invalid, "the options say that they have \(size) bytes; begin with \(name)")
  }
  guard UnsafeRawBufferPointer(start: start + known, count: size - known).allSatisfy({ $0 == 0 }) else {
    throw StoreError(.unsupported, "the options ask for what this version does not have; update the library")
  }
}

extension Durability {
  init(_ durability: UInt32) throws(StoreError) {
    switch durability {
    case KEPT_SHARED: self = .shared
    case KEPT_DURABLE: self = .durable
    default: throw StoreError(.invalid, "the durability \(durability) is unknown; use KEPT_SHARED or KEPT_DURABLE")
    }
  }
}

// The keys of a store's secrets, and the values that they encrypt.

package import KeptValues

/// The data keys of a store, as a provider has unlocked them.
package struct DataKeys: Sendable {
  /// The identity of the store's secrets.
  let store: [UInt8]
  /// The number of the key that new values are sealed with.
  package let current: UInt32
  let keys: [UInt32: LockedBytes]

  /// Whether they are the keys that a document names.
  package func areKeys(of document: SecretsDocument) -> Bool {
    store == document.id
      && document.keys.allSatisfy { $0.isCurrent == ($0.number == current) && publicKey(of: $0.number) == $0.publicKey }
  }

  /// The public key of a data key, which shows that the file was changed; nil for a missing one.
  private func publicKey(of number: UInt32) -> [UInt8]? {
    keys[number].flatMap { try? KeyPair(of: $0, number, store).publicKey }
  }

  /// Whether a document names another public key for one of them.
  package func contradict(_ document: SecretsDocument) -> Bool {
    store == document.id
      && document.keys.contains { named in publicKey(of: named.number).map { $0 != named.publicKey } ?? false }
  }

  /// Whether keys of the same store are among them.
  package func have(_ named: [SecretsDocument.DataKey]) -> Bool { named.allSatisfy { keys[$0.number] != nil } }

  /// The same, with keys of the same store that open values from before.
  package func adding(_ former: DataKeys?) -> DataKeys {
    guard let former, former.store == store else { return self }
    return DataKeys(store: store, current: current, keys: keys.merging(former.keys) { own, _ in own })
  }

  /// Encrypts a value for a key of the store, as of a revision.
  ///
  /// - Parameter plain: the kind of the value, and its payload.
  package func seal(
    _ plain: UnsafeBufferPointer<UInt8>, for key: KeyName, at revision: Revision
  ) throws(StoreError) -> [UInt8] {
    guard let dataKey = keys[current] else { throw Self.missing(current) }
    let header = SealedHeader(key: current, revision: revision)
    try Memory.ask(for: plain.count + SealedHeader.overhead, to: "encrypt a value")
    var sealed = header.bytes
    sealed.reserveCapacity(sealed.count + plain.count + Seal.overhead)
    try Seal.seal(plain, with: dataKey, for: SealContext(valueOf: store, key, header), to: &sealed)
    return sealed
  }

  /// Decrypts a value of a key of the store.
  ///
  /// Throws `corrupt` if it was damaged, or sealed for another key, store or revision; and `unavailable` if its data
  /// key is missing, or if a later version has sealed it.
  /// - Parameter revision: the revision that set the value; nil for an old value, for which the sealed one is used.
  package func open(
    _ sealed: UnsafeBufferPointer<UInt8>, for key: KeyName, at revision: Revision?
  ) throws(StoreError) -> LockedBytes {
    let header = try SealedHeader(sealed)
    guard revision == nil || revision == header.revision else { throw Self.exchanged }
    guard let dataKey = keys[header.key] else { throw Self.missing(header.key) }
    var box = UnsafeBufferPointer(rebasing: sealed[SealedHeader.size...])
    var (boxKey, context) = (dataKey as LockedBytes?, SealContext(valueOf: store, key, header))
    if header.isPublic {
      let sender = Array(box.prefix(KeyPair.publicBytes))
      box = UnsafeBufferPointer(rebasing: box.dropFirst(sender.count))
      let own = try KeyPair(of: dataKey, header.key, store)
      (boxKey, context) = (
        try own.shared(with: sender), SealContext(valueOf: store, key, header, sender, own.publicKey)
      )
    }
    guard let boxKey, let plain = try Seal.open(box, with: boxKey, for: context) else { throw Self.exchanged }
    return plain
  }

  private static let exchanged = StoreError(
    .corrupt,
    "the encrypted value was damaged, or belongs to another key, revision or store; set it again, or restore a backup")

  private static func missing(_ key: UInt32) -> StoreError {
    StoreError(
      .unavailable,
      "the value is encrypted with data key \(key), which the file secrets does not have; "
        + "restore that file from a backup, or set the value again")
  }
}

/// What precedes the sealed bytes of a value.
package struct SealedHeader: Equatable {
  /// The number of the data key.
  package let key: UInt32
  package let revision: Revision
  /// Whether it was sealed with the public key.
  ///
  /// The public key of a pair for this value follows.
  package let isPublic: Bool

  /// The last format, for values that were sealed with the public key; the others have format 1.
  private static let format: UInt8 = 2
  static let size = 13
  /// How much longer a sealed value is.
  package static let overhead = size + Seal.overhead

  init(key: UInt32, revision: Revision, isPublic: Bool = false) {
    (self.key, self.revision, self.isPublic) = (key, revision, isPublic)
  }

  package init(_ sealed: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    // A later format may be shorter. It is not damage, and nothing removes it but the user.
    if let format = sealed.first, format > Self.format {
      throw StoreError(
        .unavailable,
        "a later version of Kept has encrypted the value, in format \(format), and this version knows format "
          + "\(Self.format) at most; read it with that version, or set it again")
    }
    isPublic = sealed.first == Self.format
    guard sealed.count >= Self.overhead + (isPublic ? KeyPair.publicBytes : 0), sealed[0] > 0 else {
      throw StoreError(.corrupt, "the encrypted value is incomplete; set it again, or restore a backup")
    }
    func number<Number: FixedWidthInteger>(_ type: Number.Type, at start: Int) -> Number {
      (0..<Number.bitWidth / 8).reduce(0) { $0 | Number(truncatingIfNeeded: sealed[start + $1]) << Number($1 * 8) }
    }
    key = number(UInt32.self, at: 1)
    revision = number(UInt64.self, at: 5)
  }

  /// Whether a later version has sealed a value.
  package static func isLater(_ sealed: UnsafeBufferPointer<UInt8>) -> Bool { sealed.first.map { $0 > format } == true }

  var bytes: [UInt8] {
    var bytes: [UInt8] = [isPublic ? Self.format : 1]
    bytes.append(littleEndian: key)
    bytes.append(littleEndian: revision)
    return bytes
  }
}

import CPlatform

package enum SystemStart {
  /// A number that changes whenever the system starts; 0 if the system does not tell.
  package static let id: UInt64 = {
    let file = kept_open_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY, 0)
    guard file >= 0 else { return 0 }
    defer { close(file) }
    let text = [UInt8](unsafeUninitializedCapacity: 36) { buffer, count in
      count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
    guard text.count == 36 else { return 0 }
    return UInt64(kept_checksum(1, text, 18)) << 32 | UInt64(kept_checksum(0, text, 36))
  }()
}

// The record next to the values in etcd: who has written the last transaction.

internal import Etcd
internal import FoundationEssentials
internal import Kept

/// It is put with every transaction, so that its value at a revision tells who wrote that revision.
struct WriterRecord: Sendable, Hashable {
  /// The machine; nil if another program has written the record.
  var host: String?
  /// A random text that stays the same until the record is deleted.
  var keys: String

  init(host: String, keys: String) { (self.host, self.keys) = (host, keys) }

  /// Another program may have written anything.
  init(_ item: Item) {
    let value = try? Value(json: String(decoding: item.value, as: UTF8.self))
    keys = value?["keys"]?.asString ?? ""
    host = value?["host"]?.asString.flatMap { MachineOptions.isHost($0) ? $0 : nil }
  }

  var bytes: Data { Data(Value.object(["host": host.map { .string($0) }, "keys": .string(keys)]).json.utf8) }
}

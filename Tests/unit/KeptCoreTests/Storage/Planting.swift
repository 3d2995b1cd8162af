// What no program of ours writes, in a store whose checksums are right.

import CPlatform
@testable import KeptEngine
@testable import KeptSystem
import KeptValues
import Testing

/// Changes the records of a store that no process has open.
func plant(in path: String, _ change: (inout Record) -> Void) throws {
  let engine = try Engine(try OpenFolder.own(path))
  try engine.checkpoint()
  engine.close()
  let folder = try OpenFolder.own(path)
  let file = try #require(try folder.openFile(Chain.valuesName, O_RDONLY))
  let values = try ValuesReader(file)
  let writer = ValuesWriter(try folder.makeFile("planted"), values.header)
  try values.forEachRecord(from: UnsafeRawBufferPointer(start: nil, count: 0)) { record throws(StoreError) in
    var planted = record
    change(&planted)
    try writer.add(planted)
    return true
  }
  _ = try writer.finish()
  try folder.rename("planted", to: Chain.valuesName)
}

extension Record {
  var name: String { String(decoding: key, as: UTF8.self) }
}

extension StoredValue {
  /// An integer of no bytes.
  static var unreadable: StoredValue { StoredValue(kind: 2, payload: UnsafeRawBufferPointer(start: nil, count: 0)) }
}

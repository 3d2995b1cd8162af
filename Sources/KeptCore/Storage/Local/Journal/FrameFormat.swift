// The bytes of a frame of the journal: one commit, with everything that it changes.
//
//   byte  0  length     32 bits: the bytes of the frame, a multiple of 8. The lowest bit marks padding.
//   byte  4  checksum   32 bits: CRC-32C over the place, and over all other bytes of the frame
//   byte  8  writer     64 bits: a random number of the process that wrote it
//   byte 16  revision   64 bits
//   byte 24  time       64 bits: nanoseconds since 1970, by the wall clock of the writer
//   byte 32  count      32 bits: the changes
//   byte 36  tag        16 bits: the bytes of the tag, or 0xFFFF for none
//   byte 38  0          16 bits
//   byte 40  the tag, the changes, and zeros up to the length
//
// A change:
//
//   byte  0  effect     8 bits, see `FrameEffect`
//   byte  1  kind       8 bits: the kind of the value, see `Value.Kind.number`
//   byte  2  key        16 bits: the bytes of the key
//   byte  4  payload    32 bits: the bytes of the payload
//   byte  8  the key, the payload
//
// A frame of padding has only length and checksum; what follows up to its length has no meaning. All numbers are
// little-endian, and none but the length of a frame is aligned.

import KeptValues

/// The head of a frame, before its changes.
struct FrameHead: Equatable {
  var writer: UInt64
  var revision: Revision
  /// Nanoseconds since 1970.
  ///
  /// A clock may be set back, so this need not grow from frame to frame.
  var time: Int64
  var tag: String?

  var date: Timestamp { Timestamp(nanosecondsSince1970: time) }
}

/// The effect of a change on its key.
enum FrameEffect: UInt8 {
  /// The key has no value; there is no payload.
  case removed = 0
  /// The payload is the value.
  case value = 1
  /// The payload is the id of a body in the database, which holds the value.
  case staged = 2
  /// The payload is the new declaration, as JSON.
  case declared = 3
  /// The key has no declaration; there is no payload.
  case undeclared = 4
  /// The payload is the new schema version of the store, in 32 bits; the key is empty.
  case schemaVersion = 5
  /// The payload is the id of bodies in the database, which are the changes of many keys; the key is empty.
  case bulk = 6
}

enum FrameFormat {
  static let headBytes = 40
  static let paddingBytes = 8
  static let changeBytes = 8
  static let noTag: UInt16 = 0xFFFF
  static let longestTag = 0xFFFE
}

extension Value.Kind {
  /// The number in a frame; 0 is not a kind.
  ///
  /// These are stored, and never change.
  var number: UInt8 {
    switch self {
    case .null: 0
    case .bool: 1
    case .int: 2
    case .uint: 3
    case .double: 4
    case .string: 5
    case .bytes: 6
    case .date: 7
    case .array: 8
    case .dictionary: 9
    }
  }
}

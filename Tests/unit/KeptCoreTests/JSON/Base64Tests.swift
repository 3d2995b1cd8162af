@testable import KeptValues
import Testing

@Suite struct JSONBase64Tests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `the examples of RFC 4648 hold`(plain: String, base64: String) {
    var text: [UInt8] = []
    Base64.encode(Array(plain.utf8), to: &text)
    #expect(String(decoding: text, as: UTF8.self) == base64)
    #expect(Base64.decode(base64) == Array(plain.utf8))
  }

  @Test func `every byte in every place survives`() {
    for byte in UInt8.min...UInt8.max {
      for bytes in [[byte], [0, byte], [255, 0, byte], [byte, byte, byte, byte]] {
        var text: [UInt8] = []
        Base64.encode(bytes, to: &text)
        #expect(Base64.decode(String(decoding: text, as: UTF8.self)) == bytes)
      }
    }
  }

  @Test func `no two texts encode the same bytes`() {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var seen: Set<[UInt8]> = []
    for first in alphabet {
      for second in alphabet {
        guard let bytes = Base64.decode("\(first)\(second)==") else { continue }
        #expect(seen.insert(bytes).inserted)
      }
    }
    #expect(seen.count == 256)
  }
}

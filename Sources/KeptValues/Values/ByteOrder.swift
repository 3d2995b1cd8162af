// Sorts keys by their bytes, the order of everything that Kept lists. There is one sort function for all of it, because
// the standard library's would be specialized, at 5 KB each, for every type that is sorted.

import CPlatform

extension Array {
  /// The elements in the byte order of their keys.
  @inlinable package func inOrder(of key: (Element) -> ExactString) -> [Element] {
    guard let places = ByteOrder.places(of: map(key)) else { return self }
    return places.map { self[$0] }
  }

  /// The elements ordered by a number, and elements with the same number by the bytes of their keys.
  @inlinable package func inOrder(of number: (Element) -> UInt64, then key: (Element) -> ExactString) -> [Element] {
    guard count > 1 else { return self }
    let sorted = inOrder(of: key)
    let numbers = sorted.map(number)
    return ByteOrder.sorted(count) { numbers[$0] < numbers[$1] }.map { sorted[$0] }
  }
}

@usableFromInline package enum ByteOrder {
  /// The indices of some texts, in the byte order of the texts; nil if they are in order, as what a store lists is.
  @inline(never)
  @usableFromInline package static func places(of texts: [ExactString]) -> [Int]? {
    if isOrdered(texts) { return nil }
    // All bytes in one array: comparing them there needs no reference counting, which would be most of the work.
    var bytes: [UInt8] = []
    var starts = [0]
    starts.reserveCapacity(texts.count + 1)
    for text in texts {
      text.withBytes { bytes.append(contentsOf: $0) }
      starts.append(bytes.count)
    }
    return bytes.withUnsafeBytes { bytes in
      let shared = sharedCount(bytes, starts)
      // After the common prefix, the first eight bytes, compared as one number, distinguish most texts.
      let words = texts.indices.map { word(bytes[starts[$0] + shared..<starts[$0 + 1]]) }
      return words.withUnsafeBufferPointer { words in
        sorted(texts.count) { a, b in
          words[a] != words[b] ? words[a] < words[b] : isBefore(bytes, starts, a, b)
        }
      }
    }
  }

  private static func isOrdered(_ texts: [ExactString]) -> Bool {
    for next in texts.indices.dropFirst() where texts[next] < texts[next - 1] { return false }
    return true
  }

  private static func isBefore(_ bytes: UnsafeRawBufferPointer, _ starts: [Int], _ a: Int, _ b: Int) -> Bool {
    let (countA, countB) = (starts[a + 1] - starts[a], starts[b + 1] - starts[b])
    let order = bytes.baseAddress.map { memcmp($0 + starts[a], $0 + starts[b], min(countA, countB)) } ?? 0
    return order != 0 ? order < 0 : countA < countB
  }

  /// The length in bytes of the common prefix of all texts.
  private static func sharedCount(_ bytes: UnsafeRawBufferPointer, _ starts: [Int]) -> Int {
    var shared = starts[1]
    for text in 1..<starts.count - 1 {
      let start = starts[text]
      shared = min(shared, starts[text + 1] - start)
      if let first = bytes.baseAddress, memcmp(first, first + start, shared) == 0 { continue }
      shared = (0..<shared).first { bytes[$0] != bytes[start + $0] } ?? shared
    }
    return shared
  }

  /// The first eight bytes as a number with the same order; missing bytes count as 0.
  private static func word(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
    var word: UInt64 = 0
    withUnsafeMutableBytes(of: &word) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(8))) }
    return UInt64(bigEndian: word)
  }

  /// A stable sort of the numbers from 0.
  @inline(never)
  @usableFromInline package static func sorted(_ count: Int, _ isBefore: (Int, Int) -> Bool) -> [Int] {
    var places = Array(0..<count)
    places.sort(by: isBefore)
    return places
  }
}

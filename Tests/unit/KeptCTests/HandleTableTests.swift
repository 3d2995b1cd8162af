// The numbers that C has for transactions, snapshots and subscriptions.

@testable import KeptSystem
import Synchronization
import Testing

@testable import KeptC

@Suite struct `A late handle` {
  private final class Numbered: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }
  private let pins = Pins()

  @Test func `of a transaction, a snapshot or a subscription is never that of another`() throws {
    let handles = HandleTable<Numbered>(.transaction, pins)
    let first = try handles.insert(Numbered(1))
    handles.remove(first)
    let second = try handles.insert(Numbered(2))
    #expect(first != second)
    #expect(first & 1 == 1 && second & 1 == 1)
    #expect(handles.find(first) == nil)
    #expect(handles.find(second)?.number == 2)
    handles.remove(first)
    #expect(handles.find(second) != nil, "a second removal has no effect")
    let snapshot = OpaquePointer(bitPattern: try HandleTable<Numbered>(.snapshot, pins).insert(Numbered(3)))
    #expect(snapshot.map { Handles.isNumber($0) && !handles.hasIssued($0) } == true, "nor one of another kind")
  }

  @Test func `finds nothing, whatever its number is`() throws {
    let handles = HandleTable<Numbered>(.transaction, pins)
    let handle = try handles.insert(Numbered(1))
    for bit in 0..<UInt.bitWidth { #expect(handles.find(handle ^ 1 << UInt(bit)) == nil) }
    for _ in 0..<1000 {
      let number = UInt.random(in: 0 ... .max)
      #expect(number == handle || handles.find(number) == nil)
      handles.remove(number == handle ? 0 : number)
    }
    #expect(handles.find(handle)?.number == 1)
  }

  @Test func `that is NULL finds nothing, whatever the first slot has`() throws {
    let handles = HandleTable<Numbered>(.transaction, pins)
    #expect(handles.find(0) == nil)
    let number = try handles.reserve()
    handles.remove(0)
    #expect(handles.find(0) == nil)
    handles.insert(Numbered(1), at: number)
    handles.remove(0)
    #expect(handles.find(0) == nil && handles.find(number) != nil)
    handles.remove(number)
    handles.remove(0)
    #expect(try handles.reserve() != handles.reserve(), "a free slot is not freed again")
  }

  @Test func `that was reserved has an object only once it is inserted, and none after its end`() throws {
    let handles = HandleTable<Numbered>(.transaction, pins)
    let number = try handles.reserve()
    #expect(handles.find(number) == nil)
    handles.insert(Numbered(1), at: number)
    #expect(handles.find(number)?.number == 1)
    let ended = try handles.reserve()
    handles.remove(ended)
    handles.insert(Numbered(2), at: ended)
    #expect(handles.find(ended) == nil, "a subscription may end before it has begun")
  }

  @Test func `does not keep its object`() throws {
    let handles = HandleTable<Numbered>(.transaction, pins)
    weak var weakly: Numbered?
    let number = try {
      let object = Numbered(1)
      weakly = object
      return try handles.insert(object)
    }()
    #expect(weakly != nil)
    handles.remove(number)
    #expect(weakly == nil)
  }

  @Test func `is found among thousands, and those of one store are removed together`() throws {
    let handles = HandleTable<Numbered>(.transaction, pins)
    let numbers = try (0..<5000).map { try handles.insert(Numbered($0)) }
    #expect(Set(numbers).count == 5000)
    for (index, number) in numbers.enumerated() { #expect(handles.find(number)?.number == index) }
    handles.remove { $0.number % 2 == 0 }
    for (index, number) in numbers.enumerated() {
      #expect(handles.find(number)?.number == (index % 2 == 0 ? nil : index))
    }
    for index in 5000..<7500 { #expect(!numbers.contains(try handles.insert(Numbered(index)))) }
  }

  @Test func `finds its own object or none while others come and go`() async throws {
    let handles = HandleTable<Numbered>(.transaction, pins)
    let current = Atomic<UInt>(try handles.insert(Numbered(0)))
    let owner = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)
    async let wrong: Int = {
      var wrong = 0
      while !isOver.load(ordering: .acquiring) {
        let expected = owner.load(ordering: .acquiring)
        let number = current.load(ordering: .acquiring)
        // The number was published before its owner, so it is that of this owner or of a later one.
        if let found = handles.find(number), found.number < expected { wrong += 1 }
      }
      return wrong
    }()
    for next in 1...20_000 {
      let old = current.load(ordering: .acquiring)
      current.store(try handles.insert(Numbered(next)), ordering: .releasing)
      owner.store(next, ordering: .releasing)
      handles.remove(old)
    }
    isOver.store(true, ordering: .releasing)
    #expect(await wrong == 0)
  }
}

// Thousands of observers: the index finds the same ones as a linear search, without searching linearly.

@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

private final class Thing {}

@Suite(.timeLimit(.minutes(30))) struct `Many observers` {
  @Test(arguments: [10, 400]) func `keep their order in a roster, whichever leaves`(most: Int) {
    var roster = IdentityList<Thing>()
    var model: [Thing] = []
    var gone = Thing()
    for _ in 0..<4000 {
      if model.count < most, Bool.random() || model.isEmpty {
        let new = Thing()
        model.append(new)
        roster.append(new)
      } else {
        gone = model.remove(at: Int.random(in: model.indices))
        let (hasLeft, leavesTwice) = (roster.remove(gone), roster.remove(gone))
        #expect(hasLeft && !leavesTwice)
      }
      #expect(roster.count == model.count && roster.isEmpty == model.isEmpty)
      #expect(roster[ObjectIdentifier(gone)] == nil)
    }
    #expect(zip(roster, model).allSatisfy { $0 === $1 } && Array(roster).count == model.count)
    #expect(model.allSatisfy { roster[ObjectIdentifier($0)] === $0 })
  }

  @Test func `leave a queue in order`() {
    var line = FIFOQueue<Int>()
    var (first, last) = (0, 0)
    for _ in 0..<10_000 {
      if Int.random(in: 0..<100) < 52 {
        line.append(last)
        last += 1
      } else if let next = line.next() {
        #expect(next == first)
        first += 1
      }
      #expect(line.isEmpty == (first == last) && line.count == last - first)
    }
    #expect(Array(line) == Array(first..<last))
  }

  @Test func `of prefixes are found by the keys that begin with them`() throws {
    var table = PrefixTable<Thing>()
    var model: [ExactString: Thing] = [:]
    let alphabet = ["a", "b", "é", "."]
    func text(_ most: Int) -> String {
      (0..<Int.random(in: 0...most)).map { _ in alphabet.randomElement() ?? "" }.joined()
    }
    for _ in 0..<3000 {
      let prefix = ExactString(text(6))
      if let known = model.removeValue(forKey: prefix) {
        #expect(table[prefix] === known)
        table.remove(prefix)
        #expect(table[prefix] == nil)
      } else {
        let new = Thing()
        model[prefix] = new
        table.insert(new, for: prefix)
      }
      let asked = try key(text(8) + "a")
      var found: [ObjectIdentifier] = []
      table.each(of: asked) { thing in
        found.append(ObjectIdentifier(thing))
        return true
      }
      let wanted = model.filter { asked.exact.hasPrefix($0.key) }.values.map { ObjectIdentifier($0) }
      #expect(found.count == wanted.count && Set(found) == Set(wanted))
    }
    #expect(Set(table.prefixes) == Set(model.keys) && table.isEmpty == model.isEmpty)
  }

  @Test func `leave nothing behind for keys that none of them observes`() throws {
    var coverage = ObservedKeys()
    var known: [KeyName: Entry] = [:]
    var scopes: [Scope] = []
    let keys = try (0..<60).map { try key("\($0 % 4).\($0 % 3).\($0)") }
    let all: [Scope] = [.prefix(""), .prefix("1."), .prefix("1.2."), .prefix("3."), .key(keys[1]), .key(keys[3])]
    func isCovered(_ key: KeyName) -> Bool { scopes.contains { $0.contains(key) } }
    for round in 0..<2000 {
      let scope = all[Int.random(in: all.indices)]
      if let place = scopes.firstIndex(of: scope), Bool.random() {
        scopes.remove(at: place)
        coverage.remove(scope, from: &known)
      } else {
        let present = keys.filter { scope.contains($0) && (known[$0] != nil || (!isCovered($0) && Bool.random())) }
        for key in present { known[key] = Entry(value: .int(Int64(round)), revision: 1) }
        coverage.add(scope, with: present)
        scopes.append(scope)
      }
      let changed = keys[Int.random(in: keys.indices)]
      if isCovered(changed) {
        let isPresent = Bool.random()
        known[changed] = isPresent ? Entry(value: 1, revision: 2) : nil
        coverage.note(changed, isPresent: isPresent)
      }
      for key in keys { #expect(coverage.covers(key) == isCovered(key)) }
      #expect(known.keys.allSatisfy(isCovered))
      for case .prefix(let prefix) in scopes {
        #expect(Set(coverage.keys(in: prefix, of: known)) == Set(known.keys.filter { $0.exact.hasPrefix(prefix) }))
      }
      #expect(Set(coverage.scopes) == Set(scopes))
    }
  }

  // Without an index each of these took ten seconds in an optimized build. At this number, quadratic work exceeds the
  // time limit of the suite.
  enum Many: CaseIterable { case ofOneKey, ofAKeyEach, ofOnePrefix, ofAPrefixEach }

  @Test(arguments: Many.allCases, [false, true])
  func `subscribe, receive and cancel`(scopes: Many, isClosed: Bool) throws {
    let count = 10_000
    var options = StoreOptions()
    options.isHostDriven = true
    let store = Store(storage: MemoryStorage(), options: options)
    let calls = Monitor(0)
    let subscriptions = try (0..<count).map { number in
      let scope: Scope =
        switch scopes {
        case .ofOneKey: .key(try key("0.a"))
        case .ofAKeyEach: .key(try key("\(number).a"))
        case .ofOnePrefix: .prefix("0.")
        case .ofAPrefixEach: .prefix(ExactString("\(number)."))
        }
      return try store.observe(scope) { _ in calls.update { $0 += 1 } }
    }
    try store.set(1, forKey: "0.a")
    let host = try store.hostDelivery()
    var delivered = 0
    while case let some = host.dispatch(atMost: 1), some > 0 { delivered += some }
    #expect(delivered == (scopes == .ofOneKey || scopes == .ofOnePrefix ? count : 1))
    #expect(calls.read { $0 } == delivered)
    if isClosed { store.close() } else { for subscription in subscriptions { subscription.cancel() } }
    #expect(store.shared.feed.isSilent)
  }
}

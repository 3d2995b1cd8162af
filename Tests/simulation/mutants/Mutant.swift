// scripts/mutate adds this file to a copy of the engine. KEPT_MUTANT in the environment chooses the mutant that a
// process has; a process reads it once, before a simulation begins.

import CPlatform

infix operator ..<- : RangeFormationPrecedence
infix operator ??- : NilCoalescingPrecedence

private let chosen = getenv("KEPT_MUTANT").map { atoi($0) } ?? 0

@inline(__always) func isMutant(_ number: Int32) -> Bool { chosen == number }

@inline(__always) func either<Value>(_ number: Int32, _ original: Value, _ mutated: Value) -> Value {
  isMutant(number) ? mutated : original
}

@inline(__always) func always(_ number: Int32, _ condition: Bool) -> Bool { condition || isMutant(number) }

@inline(__always) func never(_ number: Int32, _ condition: Bool) -> Bool { condition && !isMutant(number) }

@inline(__always) func minOrMax<Value: Comparable>(_ number: Int32, _ one: Value, _ other: Value) -> Value {
  isMutant(number) ? max(one, other) : min(one, other)
}

@inline(__always) func maxOrMin<Value: Comparable>(_ number: Int32, _ one: Value, _ other: Value) -> Value {
  isMutant(number) ? min(one, other) : max(one, other)
}

/// A range that lacks its last element.
func ..<- <Bound: FixedWidthInteger>(start: Bound, end: Bound) -> Range<Bound> { start..<max(start, end &- 1) }

func ??- <Value>(_: Value?, other: @autoclosure () throws -> Value) rethrows -> Value { try other() }

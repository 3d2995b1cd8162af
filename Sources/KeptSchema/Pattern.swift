// Patterns: a PCRE2 search in a text, with a limit on its work.

import CPCRE2
import KeptSystem
package import KeptValues

/// A compiled pattern.
///
/// It matches anywhere in a text unless it contains `^` or `$`.
package final class Pattern: @unchecked Sendable {
  package let text: String
  // Immutable once compiled; each search has its own match data.
  private let code: OpaquePointer
  private let library: UnsafePointer<kept_pcre2>

  /// The longest pattern, in bytes.
  static let longest = 1024

  /// Throws `invalid`, with the byte of the pattern that is wrong, `failed` without memory, and `unavailable` without
  /// PCRE2.
  package init(_ text: String) throws(StoreError) {
    let count = text.utf8.count
    guard count <= Self.longest else {
      throw StoreError(.invalid, "the pattern is \(count) bytes long; at most \(Self.longest) are allowed")
    }
    let library = try PatternLibrary.functions()
    var error: Int32 = 0
    var offset = 0
    guard let code = Self.compile(text, with: library.pointee, &error, &offset) else {
      if error == Self.noMemory || error == 0 {
        throw StoreError(
          .failed, "not enough memory to compile the pattern, and nothing was changed; free some memory and try again")
      }
      let reason = Self.message(error, from: library.pointee)
      throw StoreError(.invalid, "the pattern does not compile at byte \(offset): \(reason)")
    }
    self.text = text
    self.code = code
    self.library = library
  }

  deinit { library.pointee.code_free(code) }

  /// How many groups may be nested.
  private static let groupNesting: UInt32 = 24

  /// PCRE2_ERROR_HEAP_FAILED, which Swift does not import as a number.
  private static let noMemory: Int32 = 121

  private static func compile(
    _ text: String, with library: kept_pcre2, _ error: inout Int32, _ offset: inout Int
  ) -> OpaquePointer? {
    guard let context = library.compile_context_create(nil) else { return nil }
    defer { library.compile_context_free(context) }
    // These settings would otherwise depend on how the library was built.
    _ = library.set_newline(context, UInt32(PCRE2_NEWLINE_LF))
    _ = library.set_bsr(context, UInt32(PCRE2_BSR_UNICODE))
    // The compiler uses stack for each nested group.
    _ = library.set_parens_nest_limit(context, groupNesting)
    // `$` is the end, not a position before a final line feed, as in JSON Schema. The callouts count the work.
    let options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT
    return ExactString(text).withBytes { bytes in
      // An empty buffer may have a null address, which PCRE2 does not accept.
      withUnsafePointer(to: 0) { nothing in
        library.compile(bytes.baseAddress ?? nothing, bytes.count, UInt32(options), &error, &offset, context)
      }
    }
  }

  private static func message(_ error: Int32, from library: kept_pcre2) -> String {
    var text = [UInt8](repeating: 0, count: 256)
    let count = library.get_error_message(error, &text, text.count)
    return String(decoding: text.prefix(max(0, Int(count))), as: UTF8.self)
  }
}

// MARK: - Searching

extension Pattern {
  package enum Outcome {
    case found, notFound
    /// A limit was reached; the result is unknown.
    case tooLong
  }

  /// The total cost of the searches for one value, which may contain a million texts, or names and patterns for them.
  ///
  /// Each text, and each name for each pattern, adds what a pattern without exponential behaviour needs. Beyond that, a
  /// value of any size has the cost of two searches that are stopped.
  package struct Effort {
    private var left: Int
    private var earnings: Int
    private var spent = 0

    /// The most steps of one value beyond those added by its texts.
    static let ofValue = 1 << 21
    /// The most steps that its texts add, which take a few seconds.
    static let mostEarnings = 1 << 28

    /// - Parameter most: the number of steps; a search counts as 32 in addition to its own.
    package init(most: Int = Effort.ofValue, earning earnings: Int = 0) {
      left = most
      self.earnings = earnings
    }

    /// The effort of a value that is one of many.
    package init(of pool: Pool?) {
      self.init(most: min(Effort.ofValue, pool?.left ?? .max), earning: Effort.mostEarnings)
    }

    /// Adds the steps for a text.
    mutating func earn(_ bytes: Int) {
      let more = min(256 + 32 * bytes, earnings)
      earnings -= more
      left += more
      spent -= more
    }

    /// The steps used beyond those that the texts have added.
    var excess: Int { max(0, spent) }

    /// Whether no steps are left.
    fileprivate var isSpent: Bool { left <= 0 }

    /// Subtracts steps; returns whether there were enough.
    fileprivate mutating func spend(_ steps: Int) -> Bool {
      spent += min(steps + 32, left)
      left -= steps + 32
      return left >= 0
    }
  }

  /// The steps that all values of an import or a declaration may use together beyond those added by their texts; used
  /// by one thread.
  package final class Pool: @unchecked Sendable {
    private(set) var left: Int

    package init(most: Int = 1 << 24) { left = most }

    func spend(_ effort: Effort) { left = max(0, left - effort.excess) }
  }

  /// Searches as part of a larger task, which may itself take too long.
  ///
  /// Throws `failed` without memory; the result is then unknown, and a later attempt may succeed.
  package func search(_ subject: String, spending effort: inout Effort) throws(StoreError) -> Outcome {
    guard !effort.isSpent else { return .tooLong }
    let (outcome, steps) = try searchCounting(subject)
    // A stopped search is known to be too long, and its cost counts.
    return effort.spend(steps) ? outcome : .tooLong
  }

  package func search(_ subject: String) throws(StoreError) -> Outcome { try searchCounting(subject).outcome }

  private func searchCounting(_ subject: String) throws(StoreError) -> (outcome: Outcome, steps: Int) {
    var work = Work()
    let result = ExactString(subject).withBytes { bytes in
      withUnsafeMutablePointer(to: &work) { work in
        withUnsafePointer(to: 0) { nothing in search(bytes.baseAddress ?? nothing, bytes.count, work) }
      }
    }
    if result == PCRE2_ERROR_NOMEMORY {
      throw StoreError(
        .failed, "not enough memory to search for the pattern, and nothing was changed; free some memory and try again")
    }
    let outcome: Outcome = result >= 0 ? .found : result == PCRE2_ERROR_NOMATCH ? .notFound : .tooLong
    return (outcome, work.cost)
  }

  private func search(_ start: UnsafePointer<UInt8>, _ count: Int, _ work: UnsafeMutablePointer<Work>) -> Int32 {
    let library = library.pointee
    guard let context = library.match_context_create(nil) else { return PCRE2_ERROR_NOMEMORY }
    defer { library.match_context_free(context) }
    guard let data = library.match_data_create(1, nil) else { return PCRE2_ERROR_NOMEMORY }
    defer { library.match_data_free(data) }
    _ = library.set_match_limit(context, Work.most)
    _ = library.set_depth_limit(context, Work.most)
    _ = library.set_heap_limit(context, Work.kibibytes)
    _ = library.set_callout(context, { block, work in Work.count(block, work) }, work)
    // A Swift string is always valid UTF-8.
    return library.match(code, start, count, 0, UInt32(PCRE2_NO_UTF_CHECK), data, context)
  }
}

/// The cost of a search.
///
/// PCRE2's own limits start over at each place where a match may start, and do not count how far one step of a pattern
/// reads: `a+b` would read a text of 16 MiB of `a` 16 million times. The count is the same on every machine, so that
/// whether a process may write a value does not depend on its load.
private struct Work {
  private var steps: UInt32 = 0
  private var bytes = 0
  private var position = 0

  /// In steps: reading 64 bytes takes as long as one step.
  var cost: Int { Int(steps) + bytes / 64 }

  /// The most steps of a search, and the most backtracking points.
  static let most: UInt32 = 1_000_000
  /// The most bytes that the steps may read.
  static let mostBytes = 64 << 20
  /// The most memory for backtracking points.
  static let kibibytes: UInt32 = 64 << 10

  /// Called by PCRE2 before each step.
  static func count(_ block: UnsafeMutablePointer<pcre2_callout_block_8>?, _ work: UnsafeMutableRawPointer?) -> Int32 {
    guard let block, let work = work?.assumingMemoryBound(to: Work.self) else { return PCRE2_ERROR_CALLOUT }
    let position = block.pointee.current_position
    work.pointee.steps += 1
    work.pointee.bytes += abs(position - work.pointee.position)
    work.pointee.position = position
    return work.pointee.steps > most || work.pointee.bytes > mostBytes ? PCRE2_ERROR_CALLOUT : 0
  }
}

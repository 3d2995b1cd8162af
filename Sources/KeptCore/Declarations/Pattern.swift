// Patterns: a PCRE2 search in a text, with a limit on its work.

import CPCRE2

/// A compiled pattern.
///
/// It matches anywhere in a text unless it contains `^` or `$`.
final class Pattern: @unchecked Sendable {
  let text: String
  // Immutable once compiled; each search has its own match data.
  private let code: OpaquePointer

  /// The longest pattern, in bytes.
  static let longest = 1024

  /// Throws `invalid`, with the byte of the pattern that is wrong, and `failed` without memory.
  init(_ text: String) throws(StoreError) {
    let count = text.utf8.count
    guard count <= Self.longest else {
      throw StoreError(.invalid, "a pattern has \(count) bytes; at most \(Self.longest) are allowed")
    }
    var error: Int32 = 0
    var offset = 0
    guard let code = Self.compile(text, &error, &offset) else {
      if error == Self.noMemory || error == 0 {
        throw StoreError(.failed, "there is no memory to compile the pattern; free some, nothing was changed")
      }
      throw StoreError(.invalid, "the pattern does not compile: \(Self.message(error)), at byte \(offset) of it")
    }
    self.text = text
    self.code = code
  }

  deinit { pcre2_code_free_8(code) }

  /// How many groups may be nested.
  private static let groupNesting: UInt32 = 24

  /// PCRE2_ERROR_HEAP_FAILED, which Swift does not import as a number.
  private static let noMemory: Int32 = 121

  private static func compile(_ text: String, _ error: inout Int32, _ offset: inout Int) -> OpaquePointer? {
    guard let context = pcre2_compile_context_create_8(nil) else { return nil }
    defer { pcre2_compile_context_free_8(context) }
    // These settings would otherwise depend on how the library was built.
    pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_LF))
    pcre2_set_bsr_8(context, UInt32(PCRE2_BSR_UNICODE))
    // The compiler uses stack for each nested group.
    pcre2_set_parens_nest_limit_8(context, groupNesting)
    // `$` is the end, not a position before a final line feed, as in JSON Schema. The callouts count the work.
    let options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT
    return ExactString(text).withBytes { bytes in
      // An empty buffer may have a null address, which PCRE2 does not accept.
      withUnsafePointer(to: 0) { nothing in
        pcre2_compile_8(bytes.baseAddress ?? nothing, bytes.count, UInt32(options), &error, &offset, context)
      }
    }
  }

  private static func message(_ error: Int32) -> String {
    var text = [UInt8](repeating: 0, count: 256)
    let count = pcre2_get_error_message_8(error, &text, text.count)
    return String(decoding: text.prefix(max(0, Int(count))), as: UTF8.self)
  }
}

// MARK: - Searching

extension Pattern {
  enum Outcome {
    case found, notFound
    /// A limit was reached; the result is unknown.
    case tooLong
  }

  /// The total cost of the searches for one value, which may contain a million texts, or names and patterns for them.
  ///
  /// Each text, and each name for each pattern, adds what a pattern without exponential behaviour needs. Beyond that, a
  /// value of any size has the cost of two searches that are stopped.
  struct Effort {
    private var left: Int
    private var earnings: Int
    private var spent = 0

    /// The most steps of one value beyond those added by its texts.
    static let ofValue = 1 << 21
    /// The most steps that its texts add, which take a few seconds.
    static let mostEarnings = 1 << 28

    /// - Parameter most: the number of steps; a search counts as 32 in addition to its own.
    init(most: Int = Effort.ofValue, earning earnings: Int = 0) {
      left = most
      self.earnings = earnings
    }

    /// The effort of a value that is one of many.
    init(of pool: Pool?) { self.init(most: min(Effort.ofValue, pool?.left ?? .max), earning: Effort.mostEarnings) }

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
  final class Pool: @unchecked Sendable {
    private(set) var left: Int

    init(most: Int = 1 << 24) { left = most }

    func spend(_ effort: Effort) { left = max(0, left - effort.excess) }
  }

  /// Searches as part of a larger task, which may itself take too long.
  ///
  /// Throws `failed` without memory; the result is then unknown, and a later attempt may succeed.
  func search(_ subject: String, spending effort: inout Effort) throws(StoreError) -> Outcome {
    guard !effort.isSpent else { return .tooLong }
    let (outcome, steps) = try searchCounting(subject)
    // A stopped search is known to be too long, and its cost counts.
    return effort.spend(steps) ? outcome : .tooLong
  }

  func search(_ subject: String) throws(StoreError) -> Outcome { try searchCounting(subject).outcome }

  private func searchCounting(_ subject: String) throws(StoreError) -> (outcome: Outcome, steps: Int) {
    var work = Work()
    let result = ExactString(subject).withBytes { bytes in
      withUnsafeMutablePointer(to: &work) { work in
        withUnsafePointer(to: 0) { nothing in search(bytes.baseAddress ?? nothing, bytes.count, work) }
      }
    }
    if result == PCRE2_ERROR_NOMEMORY {
      throw StoreError(.failed, "there is no memory to search for the pattern; free some, nothing was changed")
    }
    let outcome: Outcome = result >= 0 ? .found : result == PCRE2_ERROR_NOMATCH ? .notFound : .tooLong
    return (outcome, work.cost)
  }

  private func search(_ start: UnsafePointer<UInt8>, _ count: Int, _ work: UnsafeMutablePointer<Work>) -> Int32 {
    guard let context = pcre2_match_context_create_8(nil) else { return PCRE2_ERROR_NOMEMORY }
    defer { pcre2_match_context_free_8(context) }
    guard let data = pcre2_match_data_create_8(1, nil) else { return PCRE2_ERROR_NOMEMORY }
    defer { pcre2_match_data_free_8(data) }
    pcre2_set_match_limit_8(context, Work.most)
    pcre2_set_depth_limit_8(context, Work.most)
    pcre2_set_heap_limit_8(context, Work.kibibytes)
    pcre2_set_callout_8(context, { block, work in Work.count(block, work) }, work)
    // A Swift string is always valid UTF-8.
    return pcre2_match_8(code, start, count, 0, UInt32(PCRE2_NO_UTF_CHECK), data, context)
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

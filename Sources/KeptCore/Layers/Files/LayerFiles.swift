// The files of one handle's layers over time: what each was when it was last read, and why it cannot be read now.

/// The files that a handle was opened with.
struct LayerFiles: Sendable {
  private struct Followed: Sendable {
    let file: LayerFile
    // What it was when it was read; nil: it was not there, or never read.
    var stamp: FileStamp?
    var problem: StoreError?
  }
  private var followed: [Followed]

  init(_ files: [LayerFile]) { followed = files.map { Followed(file: $0) } }

  /// Where a layer is read from.
  func path(of layer: Layer) -> String? { followed.first { $0.file.layer == layer }?.file.path }

  /// Why a layer's file cannot be read now; nil: it can.
  func problem(of layer: Layer) -> StoreError? { followed.first { $0.file.layer == layer }?.problem }

  /// Reads those that have changed.
  ///
  /// - Returns: what stands in them now, and what went wrong that had not gone wrong before: a broken file keeps its
  ///   last good state.
  mutating func read() -> (news: [(Layer, LayerContents)], problems: [StoreError]) {
    var news: [(Layer, LayerContents)] = []
    var problems: [StoreError] = []
    for place in followed.indices {
      let (file, before) = (followed[place].file, followed[place].problem)
      followed[place].problem = nil
      switch file.read(since: followed[place].stamp) {
      case .unchanged: break
      case .read(let contents, let stamp):
        followed[place].stamp = stamp
        news.append((file.layer, contents))
      case .absent:
        followed[place].stamp = nil
        news.append((file.layer, LayerContents()))
      case .failed(let problem):
        followed[place].problem = problem
        if problem.message != before?.message { problems.append(problem) }
      }
    }
    return (news, problems)
  }
}

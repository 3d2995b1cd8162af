// The files of one handle's layers: the stamp of each when it was last read, and why it cannot be read now.

/// The files that a handle was opened with.
struct LayerFiles: Sendable {
  private struct Followed: Sendable {
    let file: LayerFile
    // The stamp when it was read; nil if it did not exist or was never read.
    var stamp: FileStamp?
    var problem: StoreError?
  }
  private var followed: [Followed]

  init(_ files: [LayerFile]) { followed = files.map { Followed(file: $0) } }

  /// The path that a layer is read from.
  func path(of layer: Layer) -> String? { followed.first { $0.file.layer == layer }?.file.path }

  /// Why a layer's file cannot be read now; nil if it can.
  func problem(of layer: Layer) -> StoreError? { followed.first { $0.file.layer == layer }?.problem }

  /// Reads the files that have changed.
  ///
  /// - Returns: their new contents, and errors that did not occur in the previous read. A file with an error keeps its
  ///   last valid contents.
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

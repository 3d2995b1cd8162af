// The files of one handle's layers: the stamp of each when it was last read, and why it cannot be read now.

import KeptSystem
import KeptValues

/// The files that a handle was opened with, those of one layer in the order of their importance.
struct LayerFiles: Sendable {
  private struct Followed: Sendable {
    let file: LayerFile
    // The stamp when it was read; nil if it did not exist or was never read.
    var stamp: FileStamp?
    var problem: StoreError?
    // The locks of a managed file are unknown until it is read.
    var contents: LayerContents

    init(_ file: LayerFile) {
      self.file = file
      contents = file.layer == .managed ? .everythingLocked : LayerContents()
    }
  }
  private var followed: [Followed]

  init(_ files: [LayerFile]) { followed = files.map { Followed($0) } }

  /// The path that a layer has a key from; if it has nothing for the key, the path that it is read from.
  func path(of layer: Layer, for key: KeyName) -> String? {
    let files = files(of: layer)
    let source =
      files.first { $0.contents.values[key] != nil } ?? files.first { $0.contents.locks(key) } ?? files.first
    return source?.file.path
  }

  /// Why a layer's file cannot be read now; nil if all can.
  func problem(of layer: Layer) -> StoreError? { files(of: layer).lazy.compactMap(\.problem).first }

  /// The state of each file, those of the highest layer first.
  var states: [LayerFileState] {
    Layer.highestFirst.flatMap(files(of:)).map { file in
      LayerFileState(
        layer: file.file.layer, path: file.file.path,
        state: file.problem != nil ? .broken : file.stamp == nil ? .absent : .read, problem: file.problem?.description)
    }
  }

  /// Reads the files that have changed.
  ///
  /// - Returns: the new contents of their layers, and errors that did not occur in the previous read. A file with an
  ///   error keeps its last valid contents.
  mutating func read() -> (news: [(Layer, LayerContents)], problems: [StoreError]) {
    var layers: [Layer] = []
    var problems: [StoreError] = []
    for place in followed.indices {
      let (file, before) = (followed[place].file, followed[place].problem)
      followed[place].problem = nil
      switch file.read(since: followed[place].stamp) {
      case .unchanged: break
      case .read(let contents, let stamp):
        (followed[place].contents, followed[place].stamp) = (contents, stamp)
        layers.append(file.layer)
      case .absent:
        (followed[place].contents, followed[place].stamp) = (LayerContents(), nil)
        layers.append(file.layer)
      case .failed(let problem):
        followed[place].problem = problem
        if problem.message != before?.message { problems.append(problem) }
      }
    }
    return (layers.map { ($0, contents(of: $0)) }, problems)
  }

  private func contents(of layer: Layer) -> LayerContents {
    let all = files(of: layer).map(\.contents)
    return all.dropFirst().reduce(all.first ?? LayerContents()) { $0.above($1) }
  }

  private func files(of layer: Layer) -> [Followed] { followed.filter { $0.file.layer == layer } }
}

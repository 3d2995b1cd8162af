// A limit on the work of a statement applies to each execution separately.

@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A limit on the work of statements` {
  @Test func `is one for each use, however often a statement is used`() throws {
    let folder = try TemporaryFolder()
    try LocalStorage(path: folder.path + "/store").close()
    let path = folder.path + "/store/values.sqlite"
    let connection = try SQLiteConnection(path: path, busyTimeoutMilliseconds: 0)
    try connection.run("CREATE TABLE number (number INTEGER PRIMARY KEY); INSERT INTO number VALUES (1), (2), (3)")
    connection.limitWork(steps: 500)
    for _ in 0..<2000 {
      let statement = try connection.statement("SELECT number FROM number WHERE number = ?1")
      try statement.bind(1, Int64(2))
      #expect(try statement.step())
      statement.reset()
    }
    let endless = try connection.statement(
      "WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count) SELECT count(*) FROM count")
    #expect(throws: StoreError.self) { try endless.step() }
  }
}

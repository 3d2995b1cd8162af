// The log on standard error. Each message is one line, regardless of the names of keys and machines.

import Kept
import Logging

struct LineLogHandler: LogHandler {
  private var handler: StreamLogHandler

  init(_ label: String) { handler = .standardError(label: label) }

  var logLevel: Logger.Level {
    get { handler.logLevel }
    set { handler.logLevel = newValue }
  }
  var metadata: Logger.Metadata {
    get { handler.metadata }
    set { handler.metadata = newValue }
  }
  var metadataProvider: Logger.MetadataProvider? {
    get { handler.metadataProvider }
    set { handler.metadataProvider = newValue }
  }
  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { handler[metadataKey: key] }
    set { handler[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    var event = event
    event.message = "\(DisplayText.line(event.message.description))"
    handler.log(event: event)
  }
}

// Reads the settings of a file in any format that the library does not read by itself.

import Kept

/// How a file is read.
public struct Reading: Sendable {
  public let format: Format
  /// Keys that stay whole where their value is a table, because they are declared as objects or as secret.
  public let whole: Set<ExactString>
  /// For `.env` files: only names with this prefix are read.
  public let environmentPrefix: String?

  public init(_ format: Format, whole: Set<ExactString> = [], environmentPrefix: String? = nil) {
    self.format = format
    self.whole = whole
    self.environmentPrefix = environmentPrefix
  }

  /// Whether the format is read by a library, in a process of its own: it may take more time and memory than the file
  /// is worth, or crash.
  public var needsLibrary: Bool { [.propertyList, .toml, .yaml].contains(format) }

  /// Reads a file in a format that needs no library.
  ///
  /// Throws `invalid` or `tooLarge`, perhaps with the offset in the decoded text, if the file is not of the format.
  public func settings(of bytes: [UInt8]) throws(StoreError) -> FoundSettings {
    try Self.mended {
      switch format {
      case .env: try EnvironmentFile.read(PlainText(bytes), prefix: environmentPrefix)
      case .ini: try INIFile.read(PlainText(bytes))
      default: throw StoreError(.unsupported, "\(format.description) is not supported here")
      }
    }
  }

  /// What a reader returns; everything that it throws becomes an error that people can read.
  package static func mended(_ read: () throws -> FoundSettings) throws(StoreError) -> FoundSettings {
    do { return try read() } catch let error as StoreError {
      throw error
    } catch let obstacle as Obstacle {
      throw StoreError(.invalid, "the file \(obstacle.reason)")
    } catch {
      throw StoreError(.invalid, "the file is damaged")
    }
  }
}

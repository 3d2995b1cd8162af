// Reads the settings of a file in a format that needs a library: a property list, TOML or YAML.
//
// The libraries recurse, trap and take time beyond proportion for texts that are made for that. So only the program
// `kept-formats`, whose memory and time are limited, and the fuzzer call them.

import Formats
import Kept

extension Reading {
  /// Throws `invalid` or `tooLarge`, perhaps with the offset in the decoded text, if the file is not of the format.
  public func settingsByLibrary(of bytes: [UInt8]) throws(StoreError) -> FoundSettings {
    try Self.mended {
      switch format {
      case .propertyList: try PropertyListFile.read(bytes)
      case .toml: try TOMLFile.read(PlainText(bytes), whole: whole)
      case .yaml: try YAMLFile.read(PlainText(bytes), whole: whole)
      default: throw StoreError(.unsupported, "\(format.description) needs no library")
      }
    }
  }
}

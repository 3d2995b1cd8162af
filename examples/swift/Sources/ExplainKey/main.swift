// Explains why a key has its value: the administrator's files, the command line, the environment and the user's value.
//
//   ExplainKey LOCATION FOLDER ENVIRONMENT KEY [-KEY VALUE]...
//
// FOLDER contains the files managed.json and system.json; ENVIRONMENT is the prefix of the variables' names.

import Foundation
import Kept

let arguments = CommandLine.arguments
guard arguments.count >= 5 else {
  FileHandle.standardError.write(
    Data("usage: ExplainKey LOCATION FOLDER ENVIRONMENT KEY [-KEY VALUE]...\n".utf8))
  exit(2)
}
do {
  let options = StoreOptions(
    managed: .path(arguments[2] + "/managed.json"),
    arguments: Array(arguments[4...]),  // KEY is in the place of the program's name
    environmentPrefix: arguments[3],
    system: .path(arguments[2] + "/system.json"))
  let settings = try Store.open(arguments[1], options: options)
  let explanation = try settings.explain(arguments[4])
  print("Swift: ", "\(explanation)".replacing("\n", with: "\n      "))
  settings.close()
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}

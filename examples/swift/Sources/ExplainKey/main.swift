// Says why a key has its value: what an administrator's files, the command line, the environment and the user say.
//
//   ExplainKey LOCATION FOLDER ENVIRONMENT KEY [-KEY VALUE]...
//
// FOLDER has the files managed.json and system.json, ENVIRONMENT is what the names of the variables begin with.

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
    arguments: Array(arguments[4...]),  // KEY stands where a program has its name
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

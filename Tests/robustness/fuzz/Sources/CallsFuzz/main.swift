// Properties of every sequence of calls of kept.h, with any arguments: no call crashes, each returns a status that the
// header lists, and each error has a message. Tests/c/calls defines what the bytes of an input mean.

import CFuzzer
import Calls

var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
let status = LLVMFuzzerRunDriver(&count, &arguments) { data, size in calls_fuzz(data, size) }

// What must hold for every sequence of calls of kept.h, whatever their arguments: no call crashes, each answers with a
// status that the header lists, and each error has a sentence. Tests/C/calls says what the bytes of an input stand for.

import CFuzzer
import Calls

var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
let status = LLVMFuzzerRunDriver(&count, &arguments) { data, size in calls_fuzz(data, size) }

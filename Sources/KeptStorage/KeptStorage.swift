// The author of a storage imports `KeptStorage`: all of Kept, and the contract of a storage. The article
// WritingAStorage describes it.

@_exported public import Kept
@_exported public import KeptCore
@_exported public import KeptSchema
@_exported public import KeptValues

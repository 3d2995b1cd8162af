// A Swift program imports only `Kept`: the typed API of this module, and the store beneath it.

@_exported public import KeptCore
@_exported public import KeptFormats

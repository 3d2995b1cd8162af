// `import Kept` is all a Swift program imports: the typed face of this module, and the store beneath it.

@_exported public import KeptCore

// The storages of this module are simple storages: a program needs the adapter, and nothing else of the contract.

@_exported public import class KeptCore.SimpleStorageAdapter

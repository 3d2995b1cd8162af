// What `import Kept` shows: the typed API of this module, and what applications need of the modules beneath it. The
// contract of a storage, the rest of KeptCore, is for authors of storages, who import KeptStorage.

@_exported public import struct KeptCore.Change
@_exported public import class KeptCore.Declaration
@_exported public import struct KeptCore.DeclarationList
@_exported public import enum KeptCore.DeclaredType
@_exported public import enum KeptCore.Durability
@_exported public import struct KeptCore.Entry
@_exported public import enum KeptCore.EnvironmentName
@_exported public import struct KeptCore.ExactString
@_exported public import struct KeptCore.Explanation
@_exported public import struct KeptCore.ExportOptions
@_exported public import struct KeptCore.ImportReport
@_exported public import struct KeptCore.KeyName
@_exported public import enum KeptCore.LaterVersion
@_exported public import enum KeptCore.Layer
@_exported public import enum KeptCore.LayerPlace
@_exported public import enum KeptCore.Limits
@_exported public import class KeptCore.MemoryStorage
@_exported public import enum KeptCore.Migrated
@_exported public import struct KeptCore.Migration
@_exported public import struct KeptCore.MigrationFailure
@_exported public import enum KeptCore.MigrationPatience
@_exported public import struct KeptCore.NotCarried
@_exported public import struct KeptCore.Notice
@_exported public import struct KeptCore.Resolved
@_exported public import struct KeptCore.Restored
@_exported public import typealias KeptCore.Revision
@_exported public import struct KeptCore.SalvageNote
@_exported public import enum KeptCore.Scope
@_exported public import protocol KeptCore.SettingsAccess
@_exported public import protocol KeptCore.SettingsReading
@_exported public import class KeptCore.Snapshot
@_exported public import class KeptCore.Store
@_exported public import struct KeptCore.StoreError
@_exported public import class KeptCore.StoreIdentity
@_exported public import struct KeptCore.StoreOptions
@_exported public import class KeptCore.Subscription
@_exported public import struct KeptCore.TextValue
@_exported public import struct KeptCore.Timestamp
@_exported public import class KeptCore.Transaction
@_exported public import typealias KeptCore.TransferProgress
@_exported public import enum KeptCore.Value
@_exported public import struct KeptCore.ValueDictionary
@_exported public import struct KeptCore.Verification
@_exported public import KeptFormats

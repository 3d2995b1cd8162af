// Errors that are caught by their code.

import KeptValues

extension StoreError.Code {
  /// Lets `catch StoreError.Code.conflict` pick one kind of failure.
  public static func ~= (code: StoreError.Code, error: any Error) -> Bool { (error as? StoreError)?.code == code }
}

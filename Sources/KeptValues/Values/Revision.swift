/// The store's count of commits: 1 for the first.
///
/// Every key stores the revision that last changed it. 0 means "never".
public typealias Revision = UInt64

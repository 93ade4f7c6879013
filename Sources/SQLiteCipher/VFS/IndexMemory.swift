/// The memory in which one connection sees the index of a write-ahead log.
protocol IndexMemory: AnyObject {
    /// The number by which other connections find the index.
    var id: UInt64 { get }
    var isReadOnly: Bool { get }

    /// Gives a region's memory.
    ///
    /// - Parameters:
    ///   - extend: Whether to make the region, filled with zeros, if the index has not got it yet.
    ///   - result: Set to the region's start. Stays `nil` if the index has not got it.
    /// - Returns: SQLite's result code.
    func map(_ region: Int, size: Int, extend: Bool, _ result: inout UnsafeMutableRawPointer?) -> Int32

    /// Ends this connection's use of what ``map(_:size:extend:_:)`` gave.
    ///
    /// - Parameter delete: Whether the index is not needed by any other connection.
    func unmap(delete: Bool)
}

/// The memory through which a connection accesses the index of a write-ahead log.
protocol IndexMemory: AnyObject {
    /// The number by which other connections find the index.
    var id: UInt64 { get }
    var isReadOnly: Bool { get }

    /// Maps the memory of a region.
    ///
    /// - Parameters:
    ///   - extend: Whether to create the region, filled with zeros, if the index does not have it yet.
    ///   - result: Set to the region's start. Stays `nil` if the index does not have the region.
    /// - Returns: SQLite's result code.
    func map(_ region: Int, size: Int, extend: Bool, result: inout UnsafeMutableRawPointer?) -> Int32

    /// Ends this connection's use of the memory that ``map(_:size:extend:result:)`` returned.
    ///
    /// - Parameter delete: Whether no other connection needs the index.
    func unmap(delete: Bool)
}

import Tandem

/// A reading that has a quicker way to what is to be sent than to go through all operations.
protocol MarkedReading {
    func operationMarks() throws -> OperationMarks
}

extension LocalReading {
    /// The marks of the operations that are sent automatically: they neither failed nor are held.
    func marksOfOperations() throws -> OperationMarks {
        if let marked = self as? any MarkedReading { return try marked.operationMarks() }
        var (all, last) = ([Operation](), nil as Operation.ID?)
        while true {
            let some = try operations(after: last, limit: 500)
            all += some
            guard some.count == 500, let id = some.last?.id else { return OperationMarks(all) }
            last = id
        }
    }
}

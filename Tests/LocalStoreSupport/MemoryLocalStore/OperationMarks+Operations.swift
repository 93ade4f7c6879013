import Tandem

extension OperationMarks {
    /// - Parameter operations: The operations in the order of the queue.
    package init(of operations: some Sequence<PendingOperation>) {
        self.init(operations.filter { $0.state == .pending || $0.state == .attempted }.map { Mark($0) })
    }
}

extension StoreAttachments {
    /// Tells, after a commit, that how files stand may have changed: one was uploaded, downloaded, or left the device.
    /// Another process's commit may have changed anything. Ends when the store is closed.
    ///
    /// One that nobody has asked for says as much as ten.
    package var changes: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let token = store.observeOperations { change in
            if case .tables = change { return }
            continuation.yield()
        } onFinish: {
            continuation.finish()
        }
        continuation.onTermination = { [weak store] _ in store?.stopObservingOperations(token) }
        return stream
    }

    /// Whether any file is ever sent to a server.
    package var areSent: Bool { store.schema.tables.contains(where: \.sendsFiles) }
}

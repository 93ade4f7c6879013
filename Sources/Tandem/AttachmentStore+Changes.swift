extension AttachmentStore {
    /// A stream that yields after commits that may have changed the state of files: an upload, a download or an
    /// eviction. Another process's commit always counts. The stream ends when the store closes.
    ///
    /// Commits between two reads are merged into one element.
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

    /// Whether any files are sent to a server.
    package var areSent: Bool { store.schema.tables.contains(where: \.sendsFiles) }
}

import Testing

@testable import Tandem

/// Follows a query with the immediate scheduler: an array that change sets are applied to.
final class Follower<M: Model & Equatable> {
    let query: Results<M>
    let recorder: Recorder<ChangeSet<M>>
    private(set) var list: [M] = []
    private var applied = 0

    init(_ query: Results<M>) {
        self.query = query
        recorder = query.changesetPublisher.on(.immediate).record()
    }

    /// The change sets since the last call. Each fits to the array it is applied to, and the last one gives what the
    /// query answers afresh.
    func next(sourceLocation: SourceLocation = #_sourceLocation) throws -> [ChangeSet<M>] {
        let new = Array(recorder.values[applied...])
        for change in new {
            #expect(Array(change.previous) == list, sourceLocation: sourceLocation)
            change.apply(to: &list)
            #expect(Array(change.results) == list, sourceLocation: sourceLocation)
        }
        applied += new.count
        #expect(list == (try query.all()), sourceLocation: sourceLocation)
        return new
    }
}

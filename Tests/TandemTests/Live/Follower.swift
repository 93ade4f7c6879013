import Testing

@testable import Tandem

/// Follows a query with the immediate scheduler by applying change sets to an array.
final class Follower<M: Model & Equatable> {
    let query: Results<M>
    let recorder: Recorder<ChangeSet<M>>
    private(set) var list: [M] = []
    private var applied = 0

    init(_ query: Results<M>) {
        self.query = query
        recorder = query.changesetPublisher.on(.immediate).record()
    }

    /// Returns the change sets since the last call.
    ///
    /// It checks that each change set fits the array it is applied to. It also checks that the last change set gives
    /// the query's current result.
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

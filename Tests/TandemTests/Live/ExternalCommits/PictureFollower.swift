import Testing

@testable import Tandem

/// Follows a query by applying its change sets to an array, and compares all values of the objects.
final class PictureFollower<M: Model> {
    private let query: Results<M>
    private let picture: (M) -> String
    private let recorder: Recorder<ChangeSet<M>>

    init(_ query: Results<M>, picture: @escaping (M) -> String) {
        self.query = query
        self.picture = picture
        recorder = query.changesetPublisher.on(.immediate).record()
    }

    /// Checks the applied change sets against the query's current result.
    func check(_ context: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        var list: [M] = []
        for change in recorder.values {
            if change.isInitial { list = [] }
            #expect(change.previous.map(picture) == list.map(picture), "\(context)", sourceLocation: sourceLocation)
            change.apply(to: &list)
        }
        let now = try query.all().map(picture)
        #expect(list.map(picture) == now, "\(context)", sourceLocation: sourceLocation)
    }
}

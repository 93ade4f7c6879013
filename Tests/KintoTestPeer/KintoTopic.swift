import Tandem

/// A topic of notes. A new note with a new topic must be sent after the topic.
@Model(wireName: "topic") struct KintoTopic {
    var name: String
}

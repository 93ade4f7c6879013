import BigInt
import Foundation
import Tandem

@Model struct Guest {
    @Folded var name: String
}

@Model struct Tag {
    @Unique var name: String
}

@Model struct Ticket {
    @Folded var title: String
    @Unique var code: String
    var points: BigInt = 0
    var seats: Int8 = 1
    var price: Decimal?
    var isOpen = true
    @LocalOnly var note: String?
    var due: Date?
    var bytes: Data?
    var guest: Reference<Guest>?
    var tags: [Reference<Tag>] = []
    var file: Attachment?
    var weight: Double?
}

@Model struct Stub {
    var number: Int
    @OnDelete(.cascade) var ticket: Reference<Ticket>?
}

@Model(.localOnly) struct Draft {
    var text: String
}

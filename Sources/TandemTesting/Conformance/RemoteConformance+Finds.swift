import Tandem
import TandemSync

extension RemoteConformance {
    static let findRequirements: [Requirement] = [
        Requirement(remote: "a look-up by ID finds live and deleted items, and nothing for an unknown ID") { tested in
            let item = try await tested.insert([("points", .integer(1))])
            let other = try await tested.insert([("points", .integer(2))])
            try (try await tested.current(item.id)).expectMembers([("points", .integer(1))])
            try await tested.delete(other)
            try await tested.expectDeleted(other.id)
            try expect(try await tested.find(TestedRemote.newID()) == nil, or: "an unknown ID is found")
        },
        Requirement(remote: "a look-up by a property finds its item") { tested in
            try tested.require(tested.features.findsByProperty, or: "Items are found by their IDs only.")
            let title = TestedRemote.newText("Наш 'магазин' \"№ 1\" & <сын> 100%")
            let item = try await tested.insert([("title", .text(title))])
            _ = try await tested.insert()
            let found = try await tested.remote.find(tested.table, key: .property("title", value: title))
            try expect(found?.isSame(as: item) == true, or: "another item is found, or none")
            let none = try await tested.remote.find(tested.table, key: .property("title", value: title + "!"))
            try expect(none == nil, or: "an item is found for an unknown text")
        },
        Requirement(remote: "an ID with characters of a path or a query does not name another item") { tested in
            let id = try await tested.insert().id.rawValue
            let table = tested.table.rawValue
            let odd = [
                "\(id)/", "./\(id)", "../\(table)/\(id)", "\(id)?a=1", "\(id)#a", "\(id)%20", "%2E/\(id)", "\(id)'",
                "*", "%",
            ]
            for text in odd {
                var found: RemoteItem?
                do {
                    found = try await tested.find(ServerID(text))
                } catch let failure as RemoteFailure {
                    switch failure {
                    case .refused, .notEncodable, .notFound, .gone: break
                    default: throw failure
                    }
                }
                try expect(found == nil, or: "an item is found for \(text)")
            }
        },
        Requirement(remote: "a table's address has no user, query or fragment") { tested in
            guard let text = tested.remote.url(of: tested.table) else {
                throw NotApplicable("The remote reports no addresses.")
            }
            let isBare = !text.contains { "?#@".contains($0) }
            try expect(isBare, or: "the address is \(text)")
        },
    ]
}

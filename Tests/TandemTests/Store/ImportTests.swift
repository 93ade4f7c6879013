import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct ImportTests {
    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an upsert of named properties keeps the others`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let node = try store.write { try $0.insert(Node("a", code: "1", count: 1)) }
        try store.sendAll()
        var other = try #require(try store.stored(node))
        other.name = "not named"
        other.count = 7
        other.code = "2"
        let result = try store.write { try $0.upsert(other, properties: \.count, \.code) }
        #expect(try store.stored(node) == result)
        #expect(result.name == "a" && result.count == 7 && result.code == "2")
        #expect(try store.queue() == ["update \(node.localID) [code count]"])
        // A new object is inserted completely.
        let new = try store.write { try $0.upsert(Node("new", code: "3", count: 3), properties: \.count) }
        #expect(try store.stored(new)?.name == "new")
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an upsert finds an object by its server ID`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let node = try store.write { try $0.insert(Node("a", count: 1, localID: "l")) }
        try store.sendAll()
        // An object that was read on the server has a server ID.
        var other = Node("b")
        other.__state.serverID = "s-l"
        let result = try store.write { [other] in try $0.upsert(other) }
        #expect(result.localID == "l" && result.serverID == "s-l" && result.version == "1")
        let id = try store.write { try $0.upsert(Node.self, values: ["serverID": "s-l", "count": 5]) }
        #expect(id == "l")
        #expect(try store.stored(node)?.count == 5)
        #expect(try store.live(Node.self).count == 1)
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `dictionaries name properties`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        try store.write { tx in
            try tx.upsert(Node.self, values: ["localID": "a", "title": "by the wire's name", "count": 1, "code": nil])
            try tx.upsert(Node.self, values: ["localID": "a", "count": Optional(2) as Any?])
            try tx.upsert(Node.self, values: ["localID": "b", "next": Reference<Node>(localID: "a"), "friends": ["a"]])
            try tx.upsert(Node.self, values: ["localID": "c", "zzz": 1], ignoringUnknown: true)
        }
        let a = try #require(try store.stored(Node.self, "a"))
        #expect(a.name == "by the wire's name" && a.count == 2 && a.code == nil)
        let b = try #require(try store.stored(Node.self, "b"))
        #expect(b.next?.localID == "a" && b.friends.map(\.localID) == ["a"] && b.count == 0)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(
        arguments: [
            (#"{"localID":"a","count":"many"}"#, "count"), (#"{"localID":"a","count":null}"#, "count"),
            (#"{"localID":"a","count":1.5}"#, "count"), (#"{"localID":"a","name":7}"#, "name"),
            (#"{"localID":"a","title":true}"#, "name"), (#"{"localID":"a","friends":"b"}"#, "friends"),
            (#"{"localID":"a","friends":[1]}"#, "friends"), (#"{"localID":"a","colour":1}"#, nil),
            (#"{"localID":7}"#, nil), (#"[{"localID":"a"},3]"#, nil), ("{", nil), ("", nil), ("7", nil),
        ], StoreKind.memoryAndEncrypted)
    func `an invalid value is refused with its property's name`(_ example: (String, String?), kind: StoreKind) throws {
        let (json, property) = example
        let store = try Store.ofNodes(kind)
        let before = try store.write { try $0.insert(Node("before", localID: "z")) }
        let error = failure {
            try store.write { try $0.upsert(Node.self, json: Data(#"{"localID":"z","name":"changed"}"#.utf8)) }
            try store.write { try $0.upsert(Node.self, json: Data(json.utf8)) }
        }
        #expect(error?.code == .invalidValue)
        #expect(error?.model == "Node")
        #expect(error?.property == property)
        #expect(try store.live(Node.self).map(\.localID) == [before.localID])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an array of JSON is stored completely or not at all`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let json = #"[{"localID":"a","count":1},{"localID":"b","friends":["a","c"]},{"localID":"a","note":"n"}]"#
        let ids = try store.write { try $0.upsert(Node.self, json: Data(json.utf8)) }
        #expect(ids == ["a", "b", "a"])
        #expect(try store.stored(Node.self, "a")?.note == "n")
        #expect(try store.stored(Node.self, "b")?.friends.map(\.localID) == ["a"])
        try store.write { tx in
            // The block catches the error and continues, and nothing of the array is stored.
            #expect(
                code { try tx.upsert(Node.self, json: Data(#"[{"localID":"d"},{"count":"x"}]"#.utf8)) } == .invalidValue
            )
            try tx.insert(Node("e", localID: "e"))
        }
        #expect(try store.live(Node.self).map(\.localID) == ["a", "b", "e"])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `a new object needs its required properties`(kind: StoreKind) throws {
        let store = try kind.make([Memo.self, Node.self])
        let error = failure { try store.write { try $0.upsert(Memo.self, json: Data("{}".utf8)) } }
        #expect(error?.code == .invalidValue)
        #expect(error?.property == "text")
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an upsert of a deleted object restores it`(kind: StoreKind) throws {
        let store = try Store.ofNodes(kind)
        let node = try store.write { try $0.insert(Node("a", code: "1", count: 1, localID: "a")) }
        try store.sendAll()
        try store.write { tx in
            try tx.delete(node)
            // Another object has its old code now. The new code is free.
            try tx.insert(Node("b", code: "1", localID: "b"))
        }
        let back = try store.write { try $0.upsert(Node.self, values: ["localID": "a", "code": "2"]) }
        #expect(back == "a")
        #expect(try store.stored(node)?.code == "2")
        #expect(try store.stored(node)?.count == 1)
        #expect(try store.queue() == ["insert b", "update a [code]"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `numbers and keys of other programs' JSON are read`(kind: StoreKind) throws {
        let store = try kind.make([EveryType.self])
        func put(_ json: String) throws -> EveryType? {
            let ids = try store.write { try $0.upsert(EveryType.self, json: Data(json.utf8)) }
            return try store.stored(EveryType.self, ids[0])
        }
        #expect(try put(#"{"localID":"a","uint64":18446744073709551615}"#)?.uint64 == .max)
        #expect(
            try put(#"{"localID":"b","big":123456789012345678901234567890}"#)?.big
                == BigInt("123456789012345678901234567890"))
        #expect(try put(#"{"localID":"c","textMap":{"$ref":"x"}}"#)?.textMap == ["$ref": "x"])
        #expect(try put(#"{"localID":"d","double":-0,"decimal":12.1}"#)?.double.sign == .minus)
        #expect(try store.stored(EveryType.self, "d")?.decimal == Decimal(string: "12.1"))
        try store.write { tx in
            try tx.upsert(
                EveryType.self,
                json: Data(
                    #"""
                    {"localID":"e","uint64":"18446744073709551615","big":"123456789012345678901234567890","double":3,
                    "date":"2024-02-29T12:00:00Z","maybeDate":"2024-02-29T12:00:00.250Z","data":"AQI=",
                    "level":9000000000,"uuid":"00000000-0000-7000-8000-000000000001","decimal":"1.5","flag":true,
                    "place":{"name":"x","latitude":1}}
                    """#.utf8))
        }
        let object = try #require(try store.stored(EveryType.self, "e"))
        #expect(object.uint64 == .max && object.double == 3 && object.data == Data([1, 2]) && object.level == .high)
        #expect(object.big == BigInt("123456789012345678901234567890"))
        #expect(object.date.timeIntervalSince1970 == 1_709_208_000)
        #expect(object.maybeDate?.timeIntervalSince1970 == 1_709_208_000.25)
        #expect(object.decimal == Decimal(string: "1.5") && object.flag && object.place.name == "x")
        #expect(
            code {
                try store.write {
                    try $0.upsert(EveryType.self, json: Data(#"{"localID":"e","level":5}"#.utf8))
                }
            } == .invalidValue)
    }
}

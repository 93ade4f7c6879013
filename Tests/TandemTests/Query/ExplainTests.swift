import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("A query explains itself, and bad data is an error with a place", .ownThreads)
struct ExplainTests {
    private func makeVouchers(_ kind: StoreKind) throws -> Results<Voucher> {
        try makeQueryStore([Voucher.self, Holder.self], kind: kind).objects(Voucher.self)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `the explanation has SQL, values and plan`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let explanation = try store.objects(Tag.self).where { $0.name == "it's" && $0.rank > 2 }.explain()
        #expect(
            explanation.description == """
                SELECT t0."__rid", t0."localID", t0."serverID", t0."synced", t0."deleted", t0."version", \
                t0."createdAt", t0."updatedAt", t0."name", t0."rank", t0."isNew" FROM "Tag" AS t0 \
                WHERE t0."deleted" = 0 AND t0."name" = ? AND t0."rank" > ? ORDER BY t0."localID"
                values: 'it''s', 2
                plan:
                  SCAN t0 USING INDEX sqlite_autoindex_Tag_1
                live: each changed row is evaluated by itself
                suggestion: All objects of Tag are read. Mark the model with @Model(indexes: [.index("name", "rank")]).
                """)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an index is suggested where all objects are read`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        #expect(
            try things.where { $0.int == 3 }.explain().suggestions == [
                "All objects of Thing are read. Mark its property int with @Indexed."
            ])
        #expect(
            try things.where { $0.small > 3 && $0.flag }.sorted(by: \.int).explain().suggestions == [
                #"All objects of Thing are read. Mark the model with @Model(indexes: [.index("flag", "small")])."#
            ])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an index is suggested where objects are sorted`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        #expect(
            try things.sorted(by: \.ratio).explain().suggestions == [
                "The objects found are sorted in memory. Mark its property ratio with @Indexed."
            ])
        #expect(
            try things.where { $0.code == "x" }.sorted(by: \.ratio).explain().suggestions == [
                """
                The objects found are sorted in memory. \
                Mark the model with @Model(indexes: [.index("code", "ratio")]).
                """
            ])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `nothing is suggested where an index is used`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        #expect(try things.where { $0.code == "x" }.explain().suggestions == [])
        #expect(try things.where { $0.code.hasPrefix("x") }.explain().suggestions == [])
        #expect(try things.where { $0.text.matches("маг") }.sorted(by: \.text).explain().suggestions == [])
        #expect(try things.explain().suggestions == [])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an index over filter and order is suggested if folded texts are scanned in order`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        let vouchers = try makeVouchers(kind)
        #expect(
            try things.where { $0.flag }.sorted(by: \.text).explain().suggestions == [
                #"All objects of Thing are read. Mark the model with @Model(indexes: [.index("flag", "text")])."#
            ])
        #expect(
            try vouchers.where { $0.isPinned }.sorted(by: \.shop).explain().suggestions == [
                #"All objects of Voucher are read. Mark the model with @Model(indexes: [.index("isPinned", "shop")])."#
            ])
        let indexed = try vouchers.where { $0.isSpent }.sorted(by: \.shop).explain()
        #expect(indexed.suggestions == [])
        #expect(indexed.plan.contains { $0.contains("SEARCH t0 USING INDEX __index_Voucher_isSpent+shop") })
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `the index of a folded text gives the order of a model with a unique property`(kind: StoreKind) throws {
        let vouchers = try makeVouchers(kind)
        let plan = try vouchers.sorted(by: \.shop).limit(10).explain().plan
        #expect(plan.first == "SCAN t0 USING INDEX __sort_Voucher_shop", "\(plan)")
        let found = try vouchers.where { $0.number == "1" }.sorted(by: \.shop).explain().plan
        #expect(found.first == "SEARCH t0 USING INDEX __unique_Voucher_number (number=?)", "\(found)")
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an index is suggested for equality with a folded text, which its sort index does not serve`(
        kind: StoreKind
    ) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        #expect(
            try things.where { $0.text == "x" && $0.flag }.explain().suggestions == [
                "All objects of Thing are read. Mark its property flag with @Indexed."
            ])
        #expect(
            try things.where { $0.text == "x" }.sorted(by: \.int).explain().suggestions == [
                "All objects of Thing are read. Mark its property text with @Indexed."
            ])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `no index is suggested for an open range in another order, because SQLite would not use it`(
        kind: StoreKind
    ) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        let vouchers = try makeVouchers(kind)
        #expect(try things.where { $0.int > 3 }.sorted(by: \.text).explain().suggestions == [])
        #expect(try vouchers.where { $0.code > "x" }.sorted(by: \.shop).explain().suggestions == [])
        #expect(
            try things.where { $0.int > 3 && $0.int < 5 }.sorted(by: \.text).explain().suggestions == [
                "All objects of Thing are read. Mark its property int with @Indexed."
            ])
        #expect(
            try things.where { $0.int > 3 }.sorted(by: \.int).explain().suggestions == [
                "All objects of Thing are read. Mark its property int with @Indexed."
            ])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `each side of an or without an index gets a suggestion`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        let vouchers = try makeVouchers(kind)
        #expect(
            try things.where { $0.int == 3 || $0.small == 2 && $0.ratio > 1 || $0.code == "x" }.explain().suggestions
                == ["All objects of Thing are read. Mark its properties int, small with @Indexed."])
        #expect(
            try things.where { $0.text.matches("маг") || $0.uuid == UUID() }.sorted(by: \.text).explain().suggestions
                == ["All objects of Thing are read. Mark its property uuid with @Indexed."])
        #expect(
            try vouchers.where { $0.points == 1 || $0.price.contains(1...2) }.explain().suggestions
                == ["All objects of Voucher are read. Mark its properties points, price with @Indexed."])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `nothing is suggested for an or with a side that no index serves`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        #expect(try things.where { $0.int == 3 || $0.small != 2 }.explain().suggestions == [])
        #expect(try things.where { $0.int == 3 || $0.text.matches("ма") }.explain().suggestions == [])
        #expect(try things.where { $0.int == 3 || $0.ratio > 2 }.explain().suggestions == [])
        #expect(try things.where { $0.int == 3 || $0.owner.name == "x" }.explain().suggestions == [])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `nothing is suggested for an or whose sides have indexes`(kind: StoreKind) throws {
        let vouchers = try makeVouchers(kind)
        for results in [
            vouchers.where { $0.code == "x" || $0.number == "y" },
            vouchers.where { $0.code == "x" || $0.number == "y" && $0.points > 3 }.sorted(by: \.points),
            vouchers.where { $0.shop.matches("маг") || $0.number.in(["1", "2"]) }.sorted(by: \.shop),
            vouchers.where { $0.holder == Holder(name: "x") || $0.serverID == "s" || $0.number.hasPrefix("1") },
        ] {
            let explanation = try results.explain()
            #expect(explanation.suggestions == [])
            #expect(explanation.plan.contains("MULTI-INDEX OR"), "\(explanation)")
            #expect(!explanation.plan.contains { $0.contains("SCAN t0") }, "\(explanation)")
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `matches is suggested instead of contains`(kind: StoreKind) throws {
        let things = try makeQueryStore(kind: kind).objects(Thing.self)
        #expect(
            try things.where { $0.text.contains("маг") }.explain().suggestions == [
                """
                All objects of Thing are read, because an index can't search inside a text. \
                Use text.matches if case and accents don't matter.
                """
            ])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an unreadable value names its model and property`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing().identified(by: "1"))
        try store.writer.connection.execute(#"UPDATE "Thing" SET "uuid" = X'00'"#)
        for read in [
            { _ = try things.all() }, { _ = try things.values(of: \.uuid) }, { _ = try things.max(of: \.uuid) },
            { _ = try store.object(ofType: Thing.self, forPrimaryKey: "1") }, { _ = try things.with(\.owner).all() },
        ] {
            let error = #expect(throws: TandemError.self, performing: read)
            #expect(error?.code == .invalidValue)
            #expect(error?.model == "Thing")
            #expect(error?.property == "uuid")
            #expect(error?.store?.hasSuffix(".tandem") == true)
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an unreadable value is an error where its object is changed`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        try store.put(Thing().identified(by: "1"))
        try store.writer.connection.execute(#"UPDATE "Thing" SET "uuid" = X'00'"#)
        let error = #expect(throws: TandemError.self) {
            _ = try store.write { try $0.update(Thing.self, localID: "1") { $0.amount += 1 } }
        }
        #expect(error?.code == .invalidValue)
        #expect(error?.model == "Thing")
        #expect(error?.property == "uuid")
        // The look-up has ended, so the store accepts other writes.
        try store.put(Thing().identified(by: "2"))
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a model that the store does not have is an error`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        for read in [
            { _ = try store.objects(HandStranger.self).all() }, { _ = try store.objects(HandStranger.self).count() },
            { _ = try store.object(ofType: HandStranger.self, forPrimaryKey: "1") },
            { _ = try things.where { _ in strangers.any { $0.localID == "1" } }.all() },
        ] {
            let error = #expect(throws: TandemError.self, performing: read)
            #expect(error?.code == .unknownModel)
            #expect(error?.model == "HandStranger")
        }
    }

    private var strangers: InverseProperty<Thing, HandStranger> { InverseProperty(through: \.thing) }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a sum over unreadable values is an error`(kind: StoreKind) throws {
        let store = try makeQueryStore(kind: kind)
        let things = store.objects(Thing.self)
        try store.put(Thing(amount: 1).identified(by: "1"))
        try store.writer.connection.execute(#"UPDATE "Thing" SET "amount" = X'FFFF'"#)
        let error = #expect(throws: TandemError.self) { try things.sum(of: \.amount) }
        #expect(error?.code == .invalidValue)
        #expect(error?.property == "amount")
    }
}

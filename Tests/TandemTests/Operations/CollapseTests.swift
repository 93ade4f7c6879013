import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The queue after a history of events, one row for each. All events concern one object, `a`, which starts with `name =
/// "0"` and `count = 0`.
struct History: CustomTestStringConvertible, Sendable {
    let name: String
    /// Words: `insert`, `receive`, `name=x`, `count=n`, `note=x`, `delete`, `undelete`, `begin`, `ack`, `refuse` (a
    /// permanent failure), `retry` (a temporary failure).
    let events: String
    /// The queue afterwards: `kind base... state`, a base as `property:value`.
    let queue: String
    /// The object: its name and count, or `deleted`, `gone`; with `*` if it is synced.
    let object: String

    var testDescription: String { name }

    init(_ name: String, _ events: String, _ queue: String, _ object: String) {
        self.name = name
        self.events = events
        self.queue = queue
        self.object = object
    }

    static let all: [History] = [
        // Single changes.
        .init("insertedOnly", "insert", "insert", "0 0"),
        .init("receivedOnly", "receive", "", "0 0*"),
        .init("insertedAndSent", "insert begin ack", "", "0 0*"),
        .init("updatedOnceSent", "receive name=1", "update name:0", "1 0"),
        .init("deletedOnceSent", "receive delete", "delete", "deleted"),
        .init("localOnlyChange", "receive note=x", "", "0 0*"),
        .init("changedToTheSame", "receive count=0", "", "0 0*"),
        // Collapse.
        .init("insertedThenUpdated", "insert name=1 count=2", "insert", "1 2"),
        .init("insertedThenDeletedBeforeAnAttempt", "insert name=1 delete", "", "gone"),
        .init("insertedThenDeletedAfterAnAttempt", "insert begin retry delete", "delete", "deleted"),
        .init("insertedThenDeletedAfterARefusal", "insert begin refuse delete", "delete", "deleted"),
        .init("updatedTwice", "receive name=1 count=2", "update count:0 name:0", "1 2"),
        .init("firstBaseWins", "receive name=1 name=2", "update name:0", "2 0"),
        .init("changedBackStaysQueued", "receive name=1 name=0", "update name:0", "0 0"),
        .init("updatedThenDeleted", "receive name=1 delete", "delete name:0", "deleted"),
        .init("updateOfDeletedIsRefused", "receive delete name=1!", "delete", "deleted"),
        .init("secondInsertIsRefused", "insert insert!", "insert", "0 0"),
        .init("insertOfReceivedIsRefused", "receive insert!", "", "0 0*"),
        .init(
            "insertOverPendingDeleteIsAnUpdate", "receive name=1 count=1 delete insert", "update count:0 name:0",
            "0 0"
        ),
        .init(
            "insertOverPendingDeleteWithOtherValues", "receive count=5 begin ack delete insert", "update count:5", "0 0"
        ),
        .init("insertOverPendingDeleteOfTheSame", "receive delete insert", "", "0 0*"),
        .init("upsertOverPendingDelete", "receive delete upsert=9", "update name:0", "9 0"),
        // Undelete.
        .init("undeletedBeforeAnAttempt", "receive delete undelete", "", "0 0*"),
        .init("undeleteBringsTheUpdateBack", "receive name=1 delete undelete", "update name:0", "1 0"),
        .init("undeleteBringsTheInsertBack", "insert begin retry delete undelete", "insert", "0 0"),
        .init("undeletedTwice", "receive name=1 delete undelete delete undelete", "update name:0", "1 0"),
        .init("undeletedAfterAnAttemptIsSentWhole", "receive delete begin retry undelete", "update *", "0 0"),
        .init("undeletedInFlightThenRefused", "receive delete begin undelete retry", "update *", "0 0"),
        .init("undeletedInFlightThenAcknowledgedIsNewThere", "receive delete begin undelete ack", "insert", "0 0"),
        .init("updateUndeletedInFlightThenAcknowledged", "receive name=1 delete begin undelete ack", "insert", "1 0"),
        .init("insertedOverADeleteInFlight", "receive delete begin insert ack", "insert", "0 0"),
        .init("undeletedInFlightAndDeletedAgain", "receive delete begin undelete delete ack", "", "gone"),
        // In flight.
        .init("insertInFlight", "insert begin", "insert attempted", "0 0"),
        .init("changedWhileInsertIsInFlight", "insert begin name=1", "insert name:0 attempted", "1 0"),
        .init("changedWhileInsertWasInFlight", "insert begin name=1 ack", "update name:0", "1 0"),
        .init("changedWhileInsertWasInFlightThenSent", "insert begin name=1 ack begin ack", "", "1 0*"),
        .init("changedWhileUpdateWasInFlight", "receive name=1 begin count=1 ack", "update count:0", "1 1"),
        .init("sameChangedInFlightHasTheSentBase", "receive name=1 begin name=2 ack", "update name:1", "2 0"),
        .init("sameChangedInFlightThenRefused", "receive name=1 begin name=2 refuse", "update name:0", "2 0"),
        .init("changedTwiceInFlight", "receive name=1 begin name=2 name=3 ack", "update name:1", "3 0"),
        .init("deletedWhileInsertWasInFlight", "insert begin delete ack", "delete", "deleted"),
        .init("deletedWhileInsertWasInFlightThenSent", "insert begin delete ack begin ack", "", "gone"),
        .init("deletedWhileInsertWasInFlightUndeleted", "insert begin delete ack undelete", "", "0 0*"),
        .init("deletedWhileInsertWasRefused", "insert begin delete refuse", "delete", "deleted"),
        .init("changedAndDeletedInFlight", "insert begin name=1 delete ack", "delete name:0", "deleted"),
        .init("changedAndDeletedInFlightUndeleted", "insert begin name=1 delete ack undelete", "update name:0", "1 0"),
        .init("deletedWhileUpdateWasInFlight", "receive name=1 begin delete ack", "delete", "deleted"),
        .init("deletedAndUndeletedInFlight", "receive name=1 begin delete undelete ack", "", "1 0*"),
        .init("deletedAndUndeletedInInsertsFlight", "insert begin delete undelete ack", "", "0 0*"),
        .init("changedAfterAnUndeleteInFlight", "insert begin delete undelete count=1 ack", "update count:0", "0 1"),
        .init("localOnlyChangeInFlight", "receive name=1 begin note=x ack", "", "1 0*"),
        // Responses.
        .init("deleteAcknowledged", "receive delete begin ack", "", "gone"),
        .init("lostResponseThenRetried", "receive name=1 begin begin ack", "", "1 0*"),
        .init("lostResponseChangedThenRetried", "receive name=1 begin name=2 begin ack", "", "2 0*"),
        .init(
            "lostResponseKeepsTheFirstBase", "receive name=1 begin name=2 begin refuse", "update name:0 failed", "2 0"),
        .init("lostResponseOfAnInsertThenDeleted", "insert begin delete begin ack", "", "gone"),
        .init("failedForNow", "receive name=1 begin retry", "update name:0", "1 0"),
        .init("failedForGood", "receive name=1 begin refuse", "update name:0 failed", "1 0"),
        .init("failedThenChanged", "receive name=1 begin refuse count=1", "update count:0 name:0", "1 1"),
        .init("failedThenDeleted", "receive name=1 begin refuse delete", "delete name:0", "deleted"),
        .init("failedThenSentAgain", "receive name=1 begin refuse begin ack", "", "1 0*"),
        .init("insertFailedChangedInFlight", "insert begin name=1 refuse", "insert", "1 0"),
        .init("insertFailedForGood", "insert begin refuse", "insert failed", "0 0"),
        .init(
            "changedInFlightIsNotRefusedWithIt", "receive name=1 begin count=1 refuse", "update count:0 name:0", "1 1"),
        .init("deleteRefused", "receive delete begin refuse", "delete failed", "deleted"),
        .init("deleteRefusedUndeleted", "receive delete begin refuse undelete", "update *", "0 0"),
    ]
}

@Suite(.ownThreads) struct CollapseTests {
    @Test(arguments: History.all)
    func `a history of events gives the expected queue and object`(_ history: History) throws {
        let store = try Store.ofNodes()
        for event in history.events.split(separator: " ") {
            let isRefused = event.hasSuffix("!")
            let error = failure { try Self.perform(String(event).replacing("!", with: ""), in: store) }
            #expect((error != nil) == isRefused, "\(event): \(error.map { "\($0)" } ?? "no error")")
            let problems = try store.checkIntegrity()
            #expect(problems == [], "after \(event)")
        }
        let queue = try store.operations.all().map(Self.describe).joined(separator: "; ")
        #expect(queue == history.queue)
        #expect(try Self.describe(store.stored(Node.self, "a")) == history.object)
        if history.queue == "" {
            let rows = try store.sql(
                "SELECT (SELECT count(*) FROM __operations) + (SELECT count(*) FROM __operation_errors)")
            #expect(rows[0][0] == .integer(0))
        }
    }

    private static func perform(_ event: String, in store: Store) throws {
        let node = Node("0", count: 0, localID: "a")
        let parts = event.split(separator: "=").map(String.init)
        try store.write { tx in
            switch parts[0] {
            case "insert": try tx.insert(node)
            case "receive": try store.applyServerObject(node, version: "1")
            case "upsert":
                try tx.upsert(Node.self, values: ["localID": "a", "name": parts[1]])
            case "name": try tx.update(Node.self, localID: "a") { $0.name = parts[1] }
            case "count": try tx.update(Node.self, localID: "a") { $0.count = Int(parts[1])! }
            case "note": try tx.update(Node.self, localID: "a") { $0.note = parts[1] }
            case "delete": try tx.delete(node)
            case "undelete": try tx.undelete(node)
            default:
                let id = try #require(try store.operations.all().first).id
                switch parts[0] {
                case "begin": try tx.beginAttempt(id)
                case "ack": try tx.acknowledge(id, serverID: "a", version: "2")
                case "refuse":
                    try tx.fail(id, with: OperationError(status: 400, message: "no", at: .distantPast), retry: false)
                case "retry": try tx.fail(id, with: OperationError(message: "later", at: .distantPast), retry: true)
                default: Issue.record("\(event)?")
                }
            }
        }
    }

    private static func describe(_ operation: PendingOperation) -> String {
        var words = ["\(operation.kind)"]
        let sent = Node.__definition.properties.filter { !$0.isLocalOnly }.count
        if operation.base.count == sent {
            words.append("*")
        } else {
            for property in operation.changedProperties {
                switch operation.base[property] {
                case .text(let text): words.append("\(property):\(text)")
                case .integer(let number): words.append("\(property):\(number)")
                default: words.append("\(property):?")
                }
            }
        }
        if operation.state != .pending { words.append("\(operation.state)") }
        return words.joined(separator: " ")
    }

    private static func describe(_ node: Node?) -> String {
        guard let node else { return "gone" }
        if node.isDeleted { return "deleted" }
        return "\(node.name ?? "nil") \(node.count)\(node.isSynced ? "*" : "")"
    }
}

import Foundation
import TestSupport
import Testing

@testable import TandemSync

@Suite("Errors of a sync have words for an alert", .ownThreads)
struct LocalizedErrorTests {
    @Test func `every code has advice, and an error its table and its message`() {
        #expect(SyncError.Code.all.count > 20)
        for code in SyncError.Code.all {
            let error = SyncError(code, message: "The value is too long.", table: "Card", property: "shop")
            #expect(error.localizedDescription == "Card.shop: The value is too long.")
            #expect(error.recoverySuggestion == code.advice && code.advice.hasSuffix("."), "\(code)")
        }
        #expect(SyncError(.busy, message: "", advice: "Wait.").recoverySuggestion == "Wait.")
    }

    @Test func `every invalid response and every notEncodable request has its code's advice`() {
        #expect(InvalidResponse.Code.all.count > 15 && RequestEncodingError.Code.all.count > 5)
        for code in InvalidResponse.Code.all {
            let response = InvalidResponse(
                code, message: "It has no ID.", table: "Card", url: "https://shop.example", status: 200)
            #expect(response.localizedDescription.hasPrefix("Card: "))
            for error in [response, RemoteFailure.invalidResponse(response)] as [any LocalizedError] {
                #expect(error.recoverySuggestion == code.advice && code.advice.hasSuffix("."), "\(code)")
            }
            #expect(SyncError(.invalidResponse(response), table: "Card", url: nil).recoverySuggestion == code.advice)
        }
        for code in RequestEncodingError.Code.all {
            let problem = RequestEncodingError(code, message: "It is not a number.", table: "Card", member: "points")
            #expect(problem.localizedDescription == "Card.points: It is not a number.")
            for error in [problem, RemoteFailure.notEncodable(problem)] as [any LocalizedError] {
                #expect(error.recoverySuggestion == code.advice && code.advice.hasSuffix("."), "\(code)")
            }
            #expect(SyncError(.notEncodable(problem), table: "Card", url: nil).recoverySuggestion == code.advice)
        }
    }

    @Test func `every problem of a file has advice`() {
        struct Secret: Error {}
        let problems: [FileProblem] = [
            .changed, .taken, .hashMismatch, .tooLarge, .outOfSpace, .unreadable(Secret()), .receiverFailed(Secret()),
        ]
        #expect(Set(problems.map { $0.recoverySuggestion }).count == problems.count)
        for problem in problems {
            #expect(RemoteFailure.file(problem).recoverySuggestion?.hasSuffix(".") == true)
        }
    }

    @Test func `every failure of a remote has a text, without the cause's own`() {
        struct Secret: Error, CustomStringConvertible { let description = "https://shop.example?key=s3cr3t" }
        let failures: [RemoteFailure] = [
            .notSent(Secret()), .lost(Secret()), .unauthenticated(status: 401, underlying: Secret()),
            .conflict(status: 409, item: nil), .gone, .notFound, .refused(status: 422, message: "Нет номера"),
            .outdatedPosition(status: 400, message: "Invalid value for _since"),
            .later(status: 503, retryAfter: .seconds(7)), .file(.outOfSpace), .file(.unreadable(Secret())), .nonsense,
        ]
        for failure in failures {
            #expect(failure.localizedDescription == failure.description)
            #expect(failure.recoverySuggestion?.hasSuffix(".") == true)
            #expect(!failure.localizedDescription.contains("s3cr3t"))
        }
    }
}

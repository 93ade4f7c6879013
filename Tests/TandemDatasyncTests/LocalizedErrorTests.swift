import Foundation
import TandemDatasync
import TestSupport
import Testing

@testable import TandemHTTP
@testable import TandemServer
@testable import TandemServerCore

/// The texts for an alert of the errors of the network and the server.
@Suite(.ownThreads) struct LocalizedErrorTests {
    @Test func `every code of a network error has advice, and the error names its server`() {
        #expect(NetworkError.Code.all.count > 10)
        for code in NetworkError.Code.all {
            let error = NetworkError(code, message: "The connection was closed.", server: "https://shop.example")
            #expect(error.localizedDescription == "https://shop.example: The connection was closed.")
            #expect(error.recoverySuggestion == code.advice && code.advice.hasSuffix("."), "\(code)")
        }
    }

    @Test func `every code of a server's errors has advice`() {
        #expect(TandemServerError.Code.all.count > 1 && FileStorageError.Code.all.count > 3)
        for code in TandemServerError.Code.all {
            let error = TandemServerError(code, message: "Port 80 is in use.", underlying: nil)
            #expect(error.localizedDescription == "Port 80 is in use.")
            #expect(error.recoverySuggestion == code.advice && code.advice.hasSuffix("."), "\(code)")
        }
        for code in FileStorageError.Code.all {
            let error = FileStorageError(code, message: "The folder '/films' can't be written.")
            #expect(error.localizedDescription == "The folder '/films' can't be written.")
            #expect(error.recoverySuggestion == code.advice && code.advice.hasSuffix("."), "\(code)")
        }
        #expect(ServerRefusal(status: 403).localizedDescription.contains("403"))
        #expect(ServerRefusal(status: 403).recoverySuggestion?.hasSuffix(".") == true)
    }

    @Test func `every failure of a transport has advice, without the cause's own text`() {
        struct Secret: Error, CustomStringConvertible { let description = "https://shop.example?key=s3cr3t" }
        for failure in [TransportFailure.notSent(Secret()), .lost(Secret()), .tooLarge] {
            #expect(failure.localizedDescription.hasSuffix(".") && failure.recoverySuggestion?.hasSuffix(".") == true)
            #expect(!failure.localizedDescription.contains("s3cr3t"))
        }
    }
}

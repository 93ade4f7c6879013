import Foundation
import HTTPTypes
import Synchronization
import TandemDatasync
import TandemServer
import TandemSync
import TandemTesting
import Testing

/// Exchanges of files that fail or are cancelled.
extension SocketTests {
    @Suite struct FileEndTests {
        /// Runs a body with files on a server that writes prepared bytes.
        private func raw<T>(
            _ script: @escaping RawServer.Script, _ configuration: AsyncHTTPTransport.Configuration = .init(),
            _ body: (TandemFiles, RawServer, RemoteFile) async throws -> T
        ) async throws -> T {
            try await RawServer.run(script) { server in
                let transport = try AsyncHTTPTransport(configuration)
                let files = try TandemFiles(url: server.url, over: transport)
                let file = RemoteFile(url: "http://127.0.0.1:\(server.port)/files/x", etag: "e", size: 1_000_000)
                let result = try await body(files, server, file)
                await transport.shutdown()
                return result
            }
        }

        private func fetch(_ files: TandemFiles, _ file: RemoteFile) async -> String {
            await fileFailure { try await files.download(file, from: 0) { _ in } }
        }

        @Test func `a wrong size is detected`() async throws {
            let faults = ServerFaults.script([
                [], [.wrongSize(by: 5)], [.wrongSize(by: 5)], [.wrongSize(by: -5)], [.wrongHash],
            ])
            try await FileSockets.run({ $0.faults = faults }) { files, _ async throws in
                let bytes = FileSockets.bytes(700_000)
                let uploaded = try await files.upload(FileSockets.file(700_000))
                let unknown = RemoteFile(url: uploaded.url)
                let known = RemoteFile(url: uploaded.url, etag: uploaded.etag, size: 700_000)
                #expect(await fetch(files, known) == "bad size")
                #expect(await fetch(files, unknown) == "lost: closed")
                #expect(await fetch(files, known) == "bad size")
                let basket = Basket()
                let served = try await files.download(known, from: 0) { basket.take($0) }
                #expect(basket.bytes != bytes)
                #expect(served.sha256 == FileSockets.file(700_000).sha256)
            }
        }

        @Test func `a response body without end is aborted`() async throws {
            let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 65, count: 65_536) + Array("\r\n".utf8)
            try await raw({ _, _ in
                [.write(head("200 OK", ["Transfer-Encoding: chunked"])), .flood(chunk, times: 4000)]
            }) { files, server, file in
                #expect(await fetch(files, file) == "bad size")
                #expect(server.written < 64 << 20)
            }
            try await raw({ _, _ in
                [.write(head("500 No", ["Transfer-Encoding: chunked"])), .flood(chunk, times: 4000)]
            }) { files, server, file in
                #expect(await fetch(files, file) == "bad tooLarge")
                #expect(server.written < 64 << 20)
            }
        }

        @Test func `invalid heads are failures`() async throws {
            let huge = head("200 OK", ["X-Huge: " + String(repeating: "x", count: 1 << 20), "Content-Length: 0"])
            for bytes in [
                huge, Array("HELLO\r\n\r\n".utf8), Array("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n".utf8),
            ] {
                try await raw({ _, _ in [.write(bytes), .close] }) { files, _, file in
                    #expect(["lost: notHTTP", "lost: closed"].contains(await fetch(files, file)))
                    #expect(
                        ["lost: notHTTP", "lost: closed"].contains(
                            await fileFailure { try await files.upload(FileSockets.file(100)) }))
                }
            }
        }

        @Test func `a silent server times out`() async throws {
            let configuration = AsyncHTTPTransport.Configuration { $0.idleTimeout = .milliseconds(300) }
            try await raw({ _, _ in [] }, configuration) { files, _, file in
                #expect(await fetch(files, file) == "lost: timedOut")
                #expect(await fileFailure { try await files.upload(FileSockets.file(100)) } == "lost: timedOut")
                #expect(await fileFailure { try await files.delete(file) } == "lost: timedOut")
            }
        }

        @Test func `a file exchange may take longer than the limit for objects`() async throws {
            let configuration = AsyncHTTPTransport.Configuration { $0.exchangeTimeout = .milliseconds(100) }
            let storage = FileStorage.inMemory()
            var server = ServerConfiguration()
            server.files = ServerFiles(storage)
            server.faults = ServerFaults { request, _ in request.method == .get ? [.slow(.milliseconds(100))] : [] }
            let running = try await TandemServer.start(.inMemory(configuration: server))
            let files = try TandemFiles(url: running.url, configuration: configuration)
            let uploaded = try await files.upload(FileSockets.file(1_000_000))
            #expect(await fetch(files, RemoteFile(url: uploaded.url)) == "nothing")
            try await running.stop()
        }

        @Test func `a connection to a closed port is reported as not sent`() async throws {
            let files = try TandemFiles(url: URL(string: "http://127.0.0.1:1")!)
            #expect(await fileFailure { try await files.upload(FileSockets.file(10)) } == "not sent: unreachable")
            #expect(
                await fileFailure { try await files.upload(FileSockets.file(3_000_000)) } == "not sent: unreachable")
        }

        /// Runs a body, cancels it while it is running, and returns its outcome.
        private func cancelled(
            once isUnderWay: () -> Bool, _ body: @escaping @Sendable () async throws -> Void
        ) async -> String {
            let task = Task { await fileFailure { try await body() } }
            await eventually(isUnderWay)
            task.cancel()
            return await task.value
        }

        // The time-outs of these tests are half a minute, so none of them ends by a time-out.
        @Test func `a cancelled wait ends at once`() async throws {
            try await raw({ _, _ in [] }) { files, server, file in
                let upload = await cancelled(once: { server.requests.count == 1 }) {
                    _ = try await files.upload(FileSockets.file(1000))
                }
                #expect(upload.hasPrefix("lost: CancellationError"))
                let download = await cancelled(once: { server.requests.count == 2 }) {
                    _ = try await files.download(file, from: 0) { _ in }
                }
                #expect(download.hasPrefix("lost: CancellationError"))
                let delete = await cancelled(once: { server.requests.count == 3 }) { try await files.delete(file) }
                #expect(delete.hasPrefix("lost: CancellationError"))
            }
        }

        @Test func `a cancelled upload stops reading`() async throws {
            try await FileSockets.run { files, storage async throws in
                let reading = Mutex(0)
                let generated = GeneratedFile(100 << 20) { offset in
                    reading.withLock { $0 += 1 }
                    defer { reading.withLock { $0 -= 1 } }
                    if offset > 10 << 20 { try await Task.sleep(for: .seconds(3600)) }
                }
                let file = generated.outgoing
                let outcome = await cancelled(once: { generated.read > 10 << 20 && reading.withLock { $0 } == 1 }) {
                    _ = try await files.upload(file)
                }
                #expect(outcome.hasPrefix("lost: CancellationError"))
                #expect(reading.withLock { $0 } == 0)
                let calls = generated.calls
                // The bytes that arrived are kept for a continuation.
                await eventually { ((try? storage.offset(of: FileSockets.id)) ?? nil).map { $0 > 9 << 20 } ?? false }
                #expect(generated.calls == calls)
            }
        }

        @Test func `a cancelled download stops delivering`() async throws {
            try await FileSockets.run { files, _ async throws in
                let uploaded = try await files.upload(FileSockets.file(20 << 20))
                let state = Mutex((running: 0, taken: 0))
                let outcome = await cancelled(once: { state.withLock { $0.taken > 5 << 20 && $0.running == 1 } }) {
                    _ = try await files.download(RemoteFile(url: uploaded.url), from: 0) { piece in
                        let taken = state.withLock { state in
                            state.running += 1
                            state.taken += piece.bytes.count
                            return state.taken
                        }
                        defer { state.withLock { $0.running -= 1 } }
                        if taken > 5 << 20 { try await Task.sleep(for: .seconds(3600)) }
                    }
                }
                #expect(outcome.hasPrefix("lost: CancellationError"))
                let (running, taken) = state.withLock { $0 }
                #expect(running == 0)
                // A slow receiver delays the server, but does not use this device's memory.
                #expect(taken < 6 << 20)
            }
        }

        @Test func `an upload in a cancelled task sends nothing`() async throws {
            try await raw({ _, _ in [] }) { files, server, file in
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return [
                        await fileFailure { try await files.upload(FileSockets.file(10)) },
                        await fileFailure { try await files.delete(file) }, await fetch(files, file),
                    ]
                }
                for outcome in await task.value { #expect(outcome.hasPrefix("not sent: CancellationError")) }
                #expect(server.requests.isEmpty)
            }
        }

        @Test func `an error of the receiver ends the download`() async throws {
            struct Full: Error {}
            try await FileSockets.run { files, _ async throws in
                let uploaded = try await files.upload(FileSockets.file(3_000_000))
                let file = RemoteFile(url: uploaded.url)
                let outcome = await fileFailure { try await files.download(file, from: 0) { _ in throw Full() } }
                #expect(outcome == "file: The downloaded bytes can't be kept: Full")
                let broken = GeneratedFile(3_000_000) { offset in if offset > 1_000_000 { throw Full() } }
                var sent = broken.outgoing
                sent.id = "ff112233445566778899aabbccddeeff"
                let other = sent
                #expect(
                    await fileFailure { try await files.upload(other) } == "file: The file can't be read: Full")
            }
        }
    }
}

import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemInspector

/// Keys from files, the environment and prompts.
@Suite(.ownThreads) struct KeyTests {
    private static let passphrase = "correct horse"

    /// Creates an encrypted store with a cheap key derivation.
    private func encrypted(_ profile: CipherProfile) throws -> (folder: TemporaryFolder, path: String) {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "secret.tandem")
        let store = try Store(
            at: path, key: .passphrase(Self.passphrase), profile: profile, models: InspectorFixture.models)
        try store.write { _ = try $0.insert(Badge(name: "gold")) }
        store.close()
        return (folder, path)
    }

    @Test(arguments: [CipherProfile.aes256gcm(iterations: 10), .sqlCipher4(iterations: 10)])
    func `the format is found, and the key comes from the environment, a file or a prompt`(
        profile: CipherProfile
    ) throws {
        let (folder, path) = try encrypted(profile)
        defer { folder.remove() }
        let arguments = ["query", path, "Badge", "--count", "--iterations", "10"]
        let environment = TestConsole(environment: ["TANDEM_KEY": Self.passphrase])
        #expect(environment.run(arguments) == .success && environment.output == "1\n")
        #expect(environment.prompts == [])

        let file = folder.path(of: "key")
        try Data((Self.passphrase + "\r\n").utf8).write(to: URL(fileURLWithPath: file))
        // The file comes before the environment.
        let withFile = TestConsole(environment: ["TANDEM_KEY": "wrong"])
        #expect(withFile.run(arguments + ["--key-file", file]) == .success && withFile.output == "1\n")

        let prompt = TestConsole(secrets: [Self.passphrase])
        #expect(prompt.run(arguments) == .success && prompt.output == "1\n")
        #expect(prompt.prompts == ["Key of \(path): "])
    }

    @Test func `a wrong, missing or empty key is an error with advice`() throws {
        let (folder, path) = try encrypted(.aes256gcm(iterations: 10))
        defer { folder.remove() }
        let arguments = ["info", path, "--iterations", "10"]
        let wrong = TestConsole(environment: ["TANDEM_KEY": "wrong"])
        #expect(wrong.run(arguments) == .key && wrong.errors.contains("--profile") && wrong.output.isEmpty)
        let missing = TestConsole()
        #expect(missing.run(arguments) == .key && missing.errors.contains("Set TANDEM_KEY"))
        let empty = TestConsole(secrets: [""])
        #expect(empty.run(arguments) == .key && empty.errors.contains("The key is empty."))
        let noFile = TestConsole()
        #expect(noFile.run(arguments + ["--key-file", path + "-none"]) == .noInput)
        let digits = TestConsole(environment: ["TANDEM_KEY": "0g"])
        #expect(digits.run(arguments + ["--raw-key"]) == .key && digits.errors.contains("hexadecimal"))
        // No option takes a key.
        let option = TestConsole()
        #expect(option.run(arguments + ["--key", Self.passphrase]) == .usage)
        for console in [wrong, missing, empty, digits] { #expect(!console.errors.contains(Self.passphrase)) }
    }

    @Test func `a plain store ignores the environment's key, and rejects that of a file`() throws {
        let fixture = try InspectorFixture()
        let console = TestConsole(environment: ["TANDEM_KEY": "x"])
        #expect(console.run("info", fixture.path) == .success)
        let file = try fixture.file("key", "x")
        let rejected = TestConsole()
        #expect(rejected.run("info", fixture.path, "--key-file", file) == .key)
        #expect(rejected.errors.contains("Leave out the options of the key."))
    }

    @Test func `a prompt handles the keys of a terminal`() throws {
        func line(_ bytes: [UInt8]) throws -> String {
            var bytes = bytes[...]
            return String(decoding: try SecretPrompt.line { bytes.popFirst() }, as: UTF8.self)
        }
        #expect(try line(Array("abc\nd".utf8)) == "abc")
        #expect(try line(Array("aЖ".utf8) + [127, 98, 13]) == "ab")
        #expect(try line(Array("abc".utf8) + [21, 120]) == "x")
        #expect(try line([127, 8] + Array("a".utf8)) == "a")
        #expect(try line([4, 97]) == "")
        let error = #expect(throws: CommandFailure.self) { _ = try line([97, 3]) }
        #expect(error?.status == .interrupted)
    }
}

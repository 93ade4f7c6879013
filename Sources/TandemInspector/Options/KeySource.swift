import Foundation
import Tandem

/// The places from which a key is read: a file, else the environment, else a prompt.
struct KeySource {
    /// The environment variable.
    let variable: String
    /// The option that names the file, for messages.
    let option: String
    /// The path of the file.
    let file: String?
    /// Whether the key is hexadecimal digits.
    let isRaw: Bool
    let prompt: String
    /// The prompt for a repetition of a new key.
    var repetition: String?

    /// Returns the key.
    ///
    /// - Throws: `CommandFailure` if there is none, or if it is not valid.
    func key(on console: Console) throws -> CipherKey {
        let secret = try bytes(on: console)
        guard !secret.isEmpty else {
            throw CommandFailure(.key, message: "The key is empty.", advice: "Give a key with at least one character.")
        }
        return isRaw ? try Self.rawKey(secret) : .passphrase(secret)
    }

    private func bytes(on console: Console) throws -> [UInt8] {
        if let file { return try Self.content(of: file) }
        if let text = console.environment[variable], !text.isEmpty { return Array(text.utf8) }
        guard let secret = try console.askSecret(prompt) else {
            throw CommandFailure(
                .key, message: "A key is needed, and there is no terminal to ask for it.",
                advice: "Set \(variable), or give a file by \(option).")
        }
        if let repetition, try console.askSecret(repetition) != secret {
            throw CommandFailure(
                .key, message: "The two keys differ.", advice: "Run the command again. Nothing was changed.")
        }
        return secret
    }

    /// Returns the bytes of a file without a line break at its end.
    private static func content(of path: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure(.noInput, message: "The key file can't be read. (\(path))", advice: "Check the path.")
        }
        var bytes = Array(data)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }

    private static func rawKey(_ digits: [UInt8]) throws -> CipherKey {
        let values = digits.map { Character(UnicodeScalar($0)).hexDigitValue }
        let nibbles = values.compactMap(\.self)
        guard nibbles.count == digits.count, [64, 96].contains(digits.count) else {
            throw CommandFailure(
                .key, message: "The key is not 64 or 96 hexadecimal digits.",
                advice: "Leave out --raw-key if it is a passphrase.")
        }
        let bytes = stride(from: 0, to: nibbles.count, by: 2).map { UInt8(nibbles[$0] << 4 | nibbles[$0 + 1]) }
        return bytes.count == 32 ? .raw(bytes) : .raw(Array(bytes[..<32]), salt: Array(bytes[32...]))
    }
}

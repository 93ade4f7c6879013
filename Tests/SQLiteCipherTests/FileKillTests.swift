import Foundation
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Writers of encrypted files are killed", .startsProcesses, .ownThreads)
struct FileKillTests {
    @Test func `killed writer leaves either the old or the new file whole`() throws {
        let scratch = try Scratch(inMemory: true)
        let key = try FileKey(raw: Array(10..<42))
        for round in 0..<(isSoak ? 100 : 6) {
            for slot in 0..<5 { unlink(scratch.path("f\(slot).enc")) }
            let peer = try Peer("", .gcm, .delete, "files", scratch.url.path)
            // In every other round the writer may die before its first file is complete.
            let first = try round % 2 == 1 ? peer.waitForWord("\n") : []
            Thread.sleep(forTimeInterval: .random(in: 0.05...0.3))
            peer.kill()
            let acknowledged = (first + peer.words()).compactMap { Int($0) }.max() ?? 0
            // An incomplete file has no name. A kill leaves a name only between naming and moving the file.
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.url.path)
            #expect(names.filter { $0.hasSuffix(".partial") }.count <= 1)
            for name in names where name.hasSuffix(".partial") { unlink(scratch.path(name)) }
            for slot in 0..<5 {
                let path = scratch.path("f\(slot).enc")
                let expected = (0...acknowledged).last { $0 > 0 && $0 % 5 == slot }
                guard FileManager.default.fileExists(atPath: path) else {
                    #expect(expected == nil)
                    continue
                }
                let reader = try EncryptedFile.Reader(path: path, key: key)
                let text = try String(decoding: reader.read(at: 0, count: Int(reader.size)), as: UTF8.self)
                let words = text.split(separator: " ")
                let number = try #require(words.first.flatMap { Int($0) })
                #expect(words.count == number * 7919 % 30_000 + 1 && Set(words).count == 1)
                // Its number, or that of the writer's next round if it died before it acknowledged it.
                #expect(number == expected || number == acknowledged + 1, "\(number) in \(slot) after \(acknowledged)")
            }
        }
    }
}

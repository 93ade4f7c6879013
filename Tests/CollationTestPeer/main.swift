// Prints collation keys, for Scripts/collation/compare.py.
//
// Usage: CollationTestPeer LANGUAGE NUMERIC, with the raw value of the language, and 0 or 1. The standard input
// contains the texts, and the standard output the keys. Each text and each key follows its length in bytes, as a
// little-endian 32-bit integer.

import Foundation
import Tandem

let arguments = CommandLine.arguments
guard arguments.count == 3, let language = SortLanguage(rawValue: arguments[1]) else {
    FileHandle.standardError.write(Data("usage: CollationTestPeer LANGUAGE 0|1\n".utf8))
    exit(64)
}
let collation = Collation(language: language, isNumeric: arguments[2] == "1")
let input = [UInt8](FileHandle.standardInput.readDataToEndOfFile())
var output: [UInt8] = []
var index = 0
while index + 4 <= input.count {
    let count = (0..<4).reduce(0) { $0 | Int(input[index + $1]) << (8 * $1) }
    let text = String(decoding: input[index + 4..<index + 4 + count], as: UTF8.self)
    index += 4 + count
    let key = collation.key(for: text)
    for shift in 0..<4 {
        output.append(UInt8(truncatingIfNeeded: key.count >> (8 * shift)))
    }
    output += key
}
FileHandle.standardOutput.write(Data(output))

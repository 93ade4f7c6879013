import Foundation

/// The Base64 of RFC 4648 with padding, in strict form: each sequence of bytes has exactly one text.
enum Base64 {
    /// Returns the bytes that `text` encodes, or nil if `text` is not the strict encoding of these bytes.
    static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        // Foundation ignores bits that are not part of the value, so it decodes different texts to the same bytes.
        guard let bytes = Data(base64Encoded: Data(buffer: text)), bytes.base64EncodedData().elementsEqual(text) else {
            return nil
        }
        return Array(bytes)
    }
}

import Crypto
import Foundation
import Tandem
import TandemSync

extension ScriptedFiles {
    /// Uploads a file in pieces, with the planned fault if any.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - progress: Receives the number of bytes so far.
    /// - Throws: `RemoteFailure`, by a planned fault, or if the server refuses the file.
    public func upload(
        _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile {
        try file.check()
        let (number, fault) = try await arrive(.upload, id: file.id, offset: 0, etag: nil)
        guard file.size <= limit else { throw .file(.tooLarge) }
        if let stored = state.withLock({ $0.files[file.id] }) {
            guard stored.etag == file.sha256 else { throw .file(.taken) }
            if case .loseResponse? = fault { throw .lost(Broken()) }
            progress(file.size)
            return UploadedFile(url: Self.url(of: file.id), etag: stored.etag, wasThere: true)
        }
        try await file.willBe(at: Self.url(of: file.id))
        let (upload, start) = begin(file, number: number)
        var offset = start
        progress(offset)
        while offset < file.size {
            if Task.isCancelled { throw .lost(CancellationError()) }
            var bytes = try await piece(of: file, at: offset)
            if case .cut(let end)? = fault { bytes = Array(bytes.prefix(Int(max(0, start + end - offset)))) }
            guard append(bytes, to: file.id, upload: upload, number: number) else {
                throw .later(status: 409, retryAfter: nil)
            }
            offset += Int64(bytes.count)
            if case .cut(let end)? = fault, offset - start >= end { throw .lost(Broken()) }
            progress(offset)
        }
        if case .cut? = fault { throw .lost(Broken()) }
        let uploaded = try end(
            file, upload: upload, isWrong: fault.map { if case .wrongHash = $0 { true } else { false } } ?? false)
        if case .loseResponse? = fault { throw .lost(Broken()) }
        progress(file.size)
        return uploaded
    }

    /// Downloads a file in pieces, with the planned fault if any.
    ///
    /// - Parameters:
    ///   - file: The file's URL, and its ETag if it is known.
    ///   - offset: The first byte to fetch.
    ///   - receive: Receives the pieces in order.
    /// - Throws: `RemoteFailure`, by a planned fault, or if the file does not exist or has another ETag.
    public func download(
        _ file: RemoteFile, from offset: Int64, to receive: @escaping @Sendable (FilePiece) async throws -> Void
    ) async throws(RemoteFailure) -> ServedFile {
        let id = try id(of: file)
        let (number, fault) = try await arrive(.download, id: id, offset: offset, etag: file.etag)
        guard let stored = state.withLock({ $0.files[id] }) else { throw .notFound }
        if let etag = file.etag, etag != stored.etag { throw .file(.changed) }
        let size = Int64(stored.bytes.count)
        if let known = file.size, known != size {
            throw .invalidResponse(
                InvalidResponse(
                    .size, message: "The server's file has another size.", table: "files", url: file.url, status: 200))
        }
        guard offset < size || offset == 0 else { throw .file(.changed) }
        let served = ServedFile(size: size, etag: stored.etag, sha256: stored.etag)
        var place = offset
        while place < size {
            if Task.isCancelled { throw .lost(CancellationError()) }
            var end = min(size, place + Int64(pieceSize))
            if case .cut(let cut)? = fault { end = min(end, offset + cut) }
            guard place < end else { throw .lost(Broken()) }
            var bytes = Array(stored.bytes[Int(place)..<Int(end)])
            if case .wrongHash? = fault, place == offset { bytes[0] ^= 1 }
            state.withLock { $0.requests[number].sent += Int64(bytes.count) }
            do {
                try await receive(FilePiece(bytes: bytes, offset: place, file: served))
            } catch is CancellationError where Task.isCancelled {
                throw .lost(CancellationError())
            } catch {
                throw .file(.receiverFailed(error))
            }
            place = end
        }
        switch fault {
        case .cut, .loseResponse: throw .lost(Broken())
        default: return served
        }
    }

    /// Deletes a file, with the planned fault if any.
    ///
    /// - Parameter file: The file's URL, and the ETag that it must still have.
    /// - Throws: `RemoteFailure`, by a planned fault, or if the file does not exist or has another ETag.
    public func delete(_ file: RemoteFile) async throws(RemoteFailure) {
        let id = try id(of: file)
        let (_, fault) = try await arrive(.delete, id: id, offset: 0, etag: file.etag)
        let failure: RemoteFailure? = state.withLock { state in
            guard let stored = state.files[id] else { return .notFound }
            if let etag = file.etag, etag != stored.etag { return .file(.changed) }
            state.files[id] = nil
            return nil
        }
        if let failure { throw failure }
        if case .loseResponse? = fault { throw .lost(Broken()) }
    }
}

// MARK: - Steps

extension ScriptedFiles {
    /// Records a request, and returns its planned fault. Throws if the fault prevents the arrival.
    private func arrive(
        _ kind: RecordedFileRequest.Kind, id: String, offset: Int64, etag: String?
    ) async throws(RemoteFailure) -> (number: Int, fault: FileFault?) {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        let request = RecordedFileRequest(kind: kind, id: id, offset: offset, etag: etag)
        let (number, fault) = state.withLock { state in
            state.requests.append(request)
            let place = state.faults.firstIndex { $0.match.matches(request) }
            return (state.requests.count - 1, place.map { state.faults.remove(at: $0).fault })
        }
        switch fault {
        case .loseRequest: throw .lost(Broken())
        case .fail(let failure): throw failure
        case .hang:
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
            throw .lost(CancellationError())
        case .meanwhile(let body): await body()
        default: break
        }
        return (number, fault)
    }

    /// Continues a partial upload or starts from the beginning, and ends the permission of earlier uploads.
    private func begin(_ file: OutgoingFile, number: Int) -> (upload: Int, offset: Int64) {
        state.withLock { state in
            state.uploads += 1
            var beginning = state.beginnings[file.id]
            if beginning?.sha256 != file.sha256 || beginning?.size != file.size { beginning = nil }
            var begun = beginning ?? Beginning(sha256: file.sha256, size: file.size, bytes: [])
            begun.upload = state.uploads
            state.beginnings[file.id] = begun
            state.requests[number].offset = Int64(begun.bytes.count)
            return (state.uploads, Int64(begun.bytes.count))
        }
    }

    private func piece(of file: OutgoingFile, at offset: Int64) async throws(RemoteFailure) -> [UInt8] {
        let count = Int(min(Int64(pieceSize), file.size - offset))
        let bytes: [UInt8]
        do {
            bytes = try await file.bytes.read(at: offset, count: count)
        } catch is CancellationError where Task.isCancelled {
            throw .lost(CancellationError())
        } catch {
            throw .file(.unreadable(error))
        }
        guard bytes.count == count else {
            throw .file(.unreadable(ShortFile(end: offset + Int64(bytes.count), size: file.size)))
        }
        return bytes
    }

    /// Adds bytes. Returns false if a later upload has replaced this one.
    private func append(_ bytes: [UInt8], to id: String, upload: Int, number: Int) -> Bool {
        state.withLock { state in
            guard state.beginnings[id]?.upload == upload else { return false }
            state.beginnings[id]?.bytes += bytes
            state.requests[number].sent += Int64(bytes.count)
            return true
        }
    }

    /// Compares all bytes with their hash.
    private func end(
        _ file: OutgoingFile, upload: Int, isWrong: Bool
    ) throws(RemoteFailure) -> UploadedFile {
        let failure: RemoteFailure? = state.withLock { state in
            guard let beginning = state.beginnings[file.id], beginning.upload == upload else {
                return .later(status: 409, retryAfter: nil)
            }
            state.beginnings[file.id] = nil
            guard !isWrong, hexadecimal(SHA256.hash(data: beginning.bytes)) == file.sha256 else {
                return .file(.hashMismatch)
            }
            state.files[file.id] = Stored(
                id: file.id, name: file.name, contentType: file.contentType, bytes: beginning.bytes,
                etag: file.sha256)
            return nil
        }
        if let failure { throw failure }
        return UploadedFile(url: Self.url(of: file.id), etag: file.sha256)
    }

    private func id(of file: RemoteFile) throws(RemoteFailure) -> String {
        guard file.url.hasPrefix(Self.url(of: "")) else {
            throw .notEncodable(
                RequestEncodingError(
                    .invalidID, message: "The file's URL is not in the server's folder of files.", table: "files"))
        }
        return String(file.url.dropFirst(Self.url(of: "").count))
    }
}

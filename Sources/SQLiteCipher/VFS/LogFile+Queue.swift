import GRDBSQLite

/// Queueing of a transaction's frames, which are encrypted and written together.
extension LogFile {
    /// The maximum size of the queue in bytes.
    private static var queueSize: Int { 256 << 10 }
    /// The maximum number of bytes per write. SQLite's own VFS accepts at most 2¹⁷ - 1.
    private static var mostWritten: Int { 64 << 10 }

    /// Adds a complete frame, header and page, to the queue. The queue is written with the transaction's last frame.
    func append(_ frame: Int, header: FrameHeader, page: UnsafeRawPointer) -> Int32 {
        let queue = self.queue ?? FrameQueue(capacity: max(2, Self.queueSize / frameSize), frameSize: frameSize)
        self.queue = queue
        if !queue.hasRoom(for: frame) || queue.count > 0 && header.isBlank != isQueueBlank {
            let code = writeQueue()
            guard code == SQLITE_OK else { return code }
        }
        if let first = lost {
            if frame > first { return failAsLost(SQLITE_IOERR_WRITE) }
            // The lost frames were rolled back.
            lost = nil
        }
        isQueueBlank = header.isBlank
        queue.add(frame, header: header, page: page)
        if header.isCommit { return writeQueue() }
        if queue.count == context.worthHelp { context.readyWorker()?.enqueue(queue) }
        return SQLITE_OK
    }

    /// Writes the queued frames. If that fails, they are lost.
    func writeQueue() -> Int32 {
        guard let queue, queue.count > 0 else { return SQLITE_OK }
        defer { queue.clear() }
        let code = write(queue)
        if code != SQLITE_OK {
            written = nil
            lost = queue.first
        }
        return code
    }

    private func write(_ queue: FrameQueue) -> Int32 {
        do {
            try queue.finish(with: context.readyCodec())
            if isQueueBlank { written = nil } else { try chain(queue) }
            let most = max(1, Self.mostWritten / frameSize)
            for start in stride(from: 0, to: queue.count, by: most) {
                let count = min(most, queue.count - start)
                let code = base.write(queue.frame(start), count: count * frameSize, at: offset(queue.first + start))
                guard code == SQLITE_OK else { return code }
            }
            return SQLITE_OK
        } catch {
            return context.fail(error, code: SQLITE_IOERR_WRITE)
        }
    }

    /// Puts the checksums over ciphertext into the headers of the queued frames.
    private func chain(_ queue: FrameQueue) throws {
        let swapped = try isSwapped()
        var sum = try checksum(before: queue.first, written: written)
        for index in 0..<queue.count {
            let frame = queue.frame(index)
            var header = FrameHeader(frame)
            sum = sum.adding(
                header: header, page: frame + Self.frameHeaderSize, pageSize: pageSize, swapped: swapped)
            header.checksum = sum
            header.store(at: frame)
        }
        written = (queue.first + queue.count - 1, sum)
    }

    // MARK: - Lost frames

    func isLost(_ frame: Int) -> Bool { lost.map { frame >= $0 } ?? false }

    func failAsLost(_ code: Int32) -> Int32 {
        context.fail(
            CipherError(
                .ioFailure, message: "A part of this transaction could not be written to the log.",
                advice: "Roll the transaction back, and try again when the disk has room."), code: code)
    }
}

#if os(Linux) || os(Android)
    import Dispatch
    import Foundation

    /// An observer of a file through inotify.
    ///
    /// It also watches the folder, but only while the file does not exist. SQLite often writes other files in the
    /// folder.
    final class InotifyChanges: FileChanges {
        private let path: String
        private let folder: String
        private let name: [UInt8]
        private let descriptor: Int32
        private let source: any DispatchSourceRead
        private var isPaused = false
        private var fileWatch: Int32 = -1
        private var folderWatch: Int32 = -1
        /// Whether an existing file could not be watched, or the folder does not exist.
        private var hasFailed = false

        // If an open file is deleted, its attributes change: the number of its names.
        private static let fileEvents = UInt32(IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
        private static let folderEvents = UInt32(IN_CREATE | IN_MOVED_TO | IN_ONLYDIR)

        init?(path: String, queue: DispatchQueue, onChange: @escaping @Sendable () -> Void) {
            self.path = path
            let url = URL(fileURLWithPath: path)
            folder = url.deletingLastPathComponent().path
            name = Array(url.lastPathComponent.utf8)
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            self.descriptor = descriptor
            source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler(handler: onChange)
            source.setCancelHandler { close(descriptor) }
            attach()
            source.activate()
        }

        var isWatching: Bool { !hasFailed }

        func drainChanges() -> Bool {
            var hasChanged = false
            var mustAttach = hasFailed
            readEvents { event, eventName in
                let mask = event.mask
                if mask & UInt32(IN_Q_OVERFLOW) != 0 {
                    mustAttach = true
                } else if event.wd == fileWatch {
                    if mask & UInt32(IN_MODIFY) != 0 { hasChanged = true } else { mustAttach = true }
                    if mask & UInt32(IN_IGNORED) != 0 { fileWatch = -1 }
                } else if event.wd == folderWatch {
                    if mask & UInt32(IN_IGNORED) != 0 { folderWatch = -1 }
                    if mask & UInt32(IN_IGNORED) != 0 || eventName.elementsEqual(name) { mustAttach = true }
                }
            }
            if mustAttach {
                attach()
                // The file may have been written before it was watched.
                hasChanged = true
            }
            return hasChanged
        }

        func pause() {
            guard !isPaused else { return }
            isPaused = true
            source.suspend()
        }

        func resume() {
            guard isPaused else { return }
            isPaused = false
            source.resume()
        }

        func cancel() {
            source.cancel()
            // A suspended source would never run its cancel handler.
            resume()
        }

        /// Watches the file with the current name or, if it does not exist, the folder.
        private func attach() {
            if attachFile() { return }
            if folderWatch < 0 { folderWatch = inotify_add_watch(descriptor, folder, Self.folderEvents) }
            // The file may have been created in between.
            if attachFile() { return }
            hasFailed = errno != ENOENT || folderWatch < 0
        }

        private func attachFile() -> Bool {
            // A file that is already watched keeps the number of its watch.
            let watch = inotify_add_watch(descriptor, path, Self.fileEvents)
            if fileWatch >= 0, fileWatch != watch {
                let error = errno
                inotify_rm_watch(descriptor, fileWatch)
                errno = error
            }
            fileWatch = watch
            guard watch >= 0 else { return false }
            if folderWatch >= 0 { inotify_rm_watch(descriptor, folderWatch) }
            folderWatch = -1
            hasFailed = false
            return true
        }

        /// Reads all pending events.
        private func readEvents(_ body: (inotify_event, Slice<UnsafeRawBufferPointer>) -> Void) {
            let head = MemoryLayout<inotify_event>.size
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
                while true {
                    let count = read(descriptor, buffer.baseAddress!, buffer.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return }
                    var offset = 0
                    while offset + head <= count {
                        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                        let end = offset + head + Int(event.len)
                        // The name is padded with zeros.
                        let name = UnsafeRawBufferPointer(buffer)[offset + head..<end].prefix { $0 != 0 }
                        body(event, name)
                        offset = end
                    }
                }
            }
        }
    }
#endif

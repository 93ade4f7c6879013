#if canImport(Darwin)
    import Darwin
    import Dispatch
    import Foundation

    /// An observer of a file through Dispatch's file system sources, which use kqueue. It watches the folder while the
    /// file does not exist.
    ///
    /// Proof of `@unchecked Sendable`: one thread uses it at a time, as the protocol states, and its handlers run on
    /// the queue.
    final class KqueueChanges: FileChanges, @unchecked Sendable {
        private let path: String
        private let folder: String
        private let queue: DispatchQueue
        private let onChange: @Sendable () -> Void
        private var source: (any DispatchSourceFileSystemObject)?
        private var isOnFile = false
        private var hasChanged = false

        init(path: String, queue: DispatchQueue, onChange: @escaping @Sendable () -> Void) {
            self.path = path
            folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            self.queue = queue
            self.onChange = onChange
            attach()
        }

        var isWatching: Bool { source != nil }

        func drainChanges() -> Bool {
            if source == nil {
                attach()
                return true
            }
            defer { hasChanged = false }
            return hasChanged
        }

        // kqueue merges pending events, so pausing would save little.
        func pause() {}

        func resume() {
            if hasChanged { onChange() }
        }

        func cancel() {
            source?.cancel()
            source = nil
        }

        private func attach() {
            cancel()
            isOnFile = watch(path, for: [.write, .extend, .delete, .rename, .link])
            if isOnFile { return }
            guard watch(folder, for: [.write, .delete, .rename]) else { return }
            // The file may have been created in between.
            if access(path, F_OK) == 0 {
                cancel()
                isOnFile = watch(path, for: [.write, .extend, .delete, .rename, .link])
            }
        }

        private func watch(_ path: String, for events: DispatchSource.FileSystemEvent) -> Bool {
            let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: events, queue: queue)
            source.setEventHandler { [weak self] in self?.handle() }
            source.setCancelHandler { close(descriptor) }
            self.source = source
            source.activate()
            return true
        }

        private func handle() {
            guard let source else { return }
            if isOnFile {
                if !source.data.isDisjoint(with: [.delete, .rename, .link]) { attach() }
                hasChanged = true
            } else if access(path, F_OK) == 0 || !source.data.isDisjoint(with: [.delete, .rename]) {
                attach()
                hasChanged = true
            }
            if hasChanged { onChange() }
        }
    }
#endif

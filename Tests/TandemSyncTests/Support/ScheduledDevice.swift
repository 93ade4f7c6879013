import TandemTesting

@testable import TandemSync

/// A device with a scheduler whose clock only changes on request.
protocol ScheduledDevice: Sendable {
    var clock: ManualSyncClock { get }
    var scheduler: SyncScheduler { get }
}

extension ScheduledDevice {
    /// Advances the clock in steps of a second, and waits for the actions that are due.
    func pass(_ seconds: Int) async {
        for _ in 0..<seconds {
            clock.advance(by: .seconds(1))
            await scheduler.waitUntilIdle()
        }
    }

    /// Starts the scheduler, and waits for the actions that are due at once.
    func start() async {
        scheduler.start()
        await scheduler.waitUntilIdle()
    }
}

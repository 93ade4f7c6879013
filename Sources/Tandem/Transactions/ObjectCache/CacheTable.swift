/// A part of the object cache: a hash table of objects with a maximum size in bytes.
///
/// An object is added when it is read for the second time within a while. Otherwise a long iteration by ID would fill
/// the cache with objects that are read only once. If the table is full, it removes an object that was not read
/// recently (the CLOCK algorithm). If all examined objects were read recently, the new object is not added.
///
/// Each object has the number of the state in which it was read. It is valid from that state to the newest one, because
/// a commit removes the objects that it changes.
struct CacheTable {
    /// The result of a look-up.
    enum LookupResult {
        case object(CachedObject)
        /// The object must be read. `isWanted` says whether to add it then.
        case absent(isWanted: Bool)
    }

    private struct Slot {
        var key = ""
        var model = ObjectIdentifier(Never.self)
        var kind = CacheKey.Kind.localID
        var object: CachedObject?
        var since: UInt64 = 0
        var byteCount = 0
        var wasRead = false
    }

    /// The hash of each slot's key, or 0 if the slot is empty.
    private var tags: [UInt64] = []
    private var slots: [Slot] = []
    /// Parts of the hashes of objects that were read once. A newer one replaces an older one in the same place.
    private var readOnce: [UInt32] = []
    private var hand = 0
    private let limit: Int

    /// The number of cached objects.
    private(set) var count = 0
    /// The estimated memory of the cached objects, in bytes, including their slots.
    private(set) var byteCount = 0

    /// The estimated memory of an object's slot. In a growing table, between three eighths and three quarters of the
    /// slots are used.
    static let slotSize = 2 * (MemoryLayout<Slot>.stride + MemoryLayout<UInt64>.stride)

    init(limit: Int) { self.limit = limit }

    /// The size of an object's own memory and headers, without the memory of its texts and lists.
    static func objectSize<M: Model>(_ model: M.Type) -> Int { MemoryLayout<M>.size + 80 }

    // MARK: Reading

    /// Looks up an object, as a reader of a state sees it.
    ///
    /// - Parameters:
    ///   - state: The number of the reader's state.
    ///   - oldest: The number of the oldest state from which changes are known. Older objects are outdated.
    @inline(__always)
    mutating func find(_ key: CacheKey, in state: UInt64, oldest: UInt64) -> LookupResult {
        guard let place = place(of: key) else { return .absent(isWanted: recordRead(key.hash)) }
        if slots[place].since < oldest {
            remove(at: place)
            return .absent(isWanted: true)
        }
        guard slots[place].since <= state, let object = slots[place].object else { return .absent(isWanted: false) }
        slots[place].wasRead = true
        return .object(object)
    }

    /// Records that an object is read from the store. Returns whether it was read before.
    mutating func recordRead(_ hash: UInt64) -> Bool {
        if readOnce.isEmpty { readOnce = [UInt32](repeating: 0, count: Self.readOnceCount(limit)) }
        let place = Int(truncatingIfNeeded: hash >> 8) & (readOnce.count - 1)
        let mark = UInt32(truncatingIfNeeded: hash >> 28) | 1
        if readOnce[place] == mark { return true }
        readOnce[place] = mark
        return false
    }

    /// A mark costs 4 bytes, and a small object some 500.
    private static func readOnceCount(_ limit: Int) -> Int {
        var count = 64
        while count < limit / 512, count < 1 << 20 { count *= 2 }
        return count
    }

    @inline(__always)
    private func place(of key: CacheKey) -> Int? {
        guard !tags.isEmpty else { return nil }
        let mask = tags.count &- 1
        var place = home(key.hash)
        while tags[place] != 0 {
            if tags[place] == key.hash, has(key, at: place) { return place }
            place = (place &+ 1) & mask
        }
        return nil
    }

    /// Accesses each property by itself: a method of the slot would copy the whole slot.
    @inline(__always)
    private func has(_ key: CacheKey, at place: Int) -> Bool {
        slots[place].model == key.model && slots[place].kind == key.kind
            && ScalarText.isEqual(slots[place].key, key.text)
    }

    @inline(__always)
    private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 8) & (tags.count &- 1) }

    // MARK: Changing

    /// Adds an object that was read in a state.
    ///
    /// - Parameter byteCount: The object's memory, without the slot.
    mutating func insert(
        _ object: CachedObject, for key: CacheKey, in state: UInt64, oldest: UInt64, byteCount: Int
    ) {
        // Another thread may have added it in the meantime.
        if let place = place(of: key) { remove(at: place) }
        let byteCount = byteCount + Self.slotSize
        guard byteCount <= limit / 4, makeRoom(for: byteCount, oldest: oldest) else { return }
        if 4 * (count + 1) > 3 * tags.count { grow() }
        var place = home(key.hash)
        while tags[place] != 0 { place = (place + 1) & (tags.count - 1) }
        tags[place] = key.hash
        slots[place] = Slot(
            key: key.text, model: key.model, kind: key.kind, object: object, since: state, byteCount: byteCount)
        count += 1
        self.byteCount += byteCount
    }

    /// Removes the objects whose keys have a hash.
    mutating func remove(_ hash: UInt64) {
        guard !tags.isEmpty else { return }
        var place = home(hash)
        var wasRemoved = false
        while tags[place] != 0 {
            if tags[place] == hash {
                // The next entry moves to this place.
                remove(at: place)
                wasRemoved = true
            } else {
                place = (place + 1) & (tags.count - 1)
            }
        }
        // The next read adds it again.
        if wasRemoved { _ = recordRead(hash) }
    }

    mutating func removeAll() {
        self = CacheTable(limit: limit)
    }

    /// Removes objects until there is room for another one. Returns `false` if all examined objects were read recently.
    private mutating func makeRoom(for needed: Int, oldest: UInt64) -> Bool {
        var chances = 32
        while byteCount + needed > limit, chances > 0 {
            hand = (hand + 1) & (tags.count - 1)
            guard tags[hand] != 0 else { continue }
            if slots[hand].wasRead, slots[hand].since >= oldest {
                slots[hand].wasRead = false
                chances -= 1
            } else {
                remove(at: hand)
            }
        }
        return byteCount + needed <= limit
    }

    private mutating func remove(at place: Int) {
        byteCount -= slots[place].byteCount
        count -= 1
        slots[place] = Slot()
        tags[place] = 0
        // Close the gap, so that a probe for a later entry does not end at it.
        let mask = tags.count - 1
        var hole = place
        var next = (hole + 1) & mask
        while tags[next] != 0 {
            if (next - home(tags[next])) & mask >= (next - hole) & mask {
                tags.swapAt(hole, next)
                slots.swapAt(hole, next)
                hole = next
            }
            next = (next + 1) & mask
        }
    }

    private mutating func grow() {
        let (oldTags, oldSlots) = (tags, slots)
        let size = max(16, 2 * oldTags.count)
        tags = [UInt64](repeating: 0, count: size)
        slots = [Slot](repeating: Slot(), count: size)
        for (tag, slot) in zip(oldTags, oldSlots) where tag != 0 {
            var place = home(tag)
            while tags[place] != 0 { place = (place + 1) & (size - 1) }
            tags[place] = tag
            slots[place] = slot
        }
        hand = 0
    }
}

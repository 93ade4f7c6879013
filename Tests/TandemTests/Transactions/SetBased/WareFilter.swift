@testable import Tandem

/// A query of wares. Some changes of a set-based update change the membership of its results.
enum WareFilter: CaseIterable {
    case all, many, new, notNew, synced, unsent, pinned
    case owned, owners, rivals, ownerIsNew, found
    case firstByName, middleByCount, distinct, firstOfMany
    case named, prefixed
    case withDeleted

    func results(in store: Store) -> Results<Ware> {
        let all = store.objects(Ware.self)
        return switch self {
        case .all: all
        case .many: all.where { $0.count > 1 }
        case .new: all.where { $0.isNew }
        case .notNew: all.where { !$0.isNew && $0.small != nil }
        case .synced: all.where { $0.isSynced }
        case .unsent: all.where { $0.serverID == nil }
        case .pinned: all.where { $0.isPinned }
        case .owned: all.where { $0.owner != nil }
        case .owners: all.where { $0.owned.count > 0 }
        case .rivals: all.where { $0.rivals.any { $0.count > 0 } }
        case .ownerIsNew: all.where { $0.owner.isNew == true }
        case .found: all.where { $0.name.matches("еж") }
        case .firstByName: all.sorted(by: \.name).limit(5)
        case .middleByCount: all.sorted(by: \.count, ascending: false).offset(2).limit(6)
        case .distinct: all.sorted(by: \.ratio).distinct(by: \.count)
        case .firstOfMany: all.limit(9).where { $0.count > 0 }
        case .named: all.where { $0.name.folded.in(["ЁЖ", "B"]) }
        case .prefixed: all.where { $0.name.folded.hasPrefix("я") && $0.shelf.folded != "А" }
        case .withDeleted: all.includingDeleted()
        }
    }
}

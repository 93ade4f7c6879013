import BigInt
import Foundation
import Tandem

extension EveryType {
    /// Returns an object with random values, often those that are easily lost.
    static func random(_ dice: inout Dice) -> EveryType {
        var value = EveryType()
        value.fill(&dice)
        return value
    }

    /// Gives every property another random value.
    mutating func fill(_ dice: inout Dice) {
        flag = dice.bool()
        int = dice.integer()
        int8 = dice.integer()
        int16 = dice.integer()
        int32 = dice.integer()
        int64 = dice.integer()
        uint = dice.integer()
        uint8 = dice.integer()
        uint16 = dice.integer()
        uint32 = dice.integer()
        uint64 = dice.integer()
        double = dice.double()
        float = dice.float()
        text = dice.text()
        data = dice.data()
        date = dice.date()
        uuid = dice.uuid()
        url = dice.url()
        decimal = dice.decimal()
        big = dice.bigInt()
        bigUnsigned = dice.bigInt().magnitude
        level = dice.element(of: Level.allCases)
        color = dice.element(of: Color.allCases)
        place = dice.place()
        int64s = dice.list { $0.integer() }
        uint64s = dice.list { $0.integer() }
        doubles = dice.list { $0.double() }
        floats = dice.list { $0.float() }
        texts = dice.list { $0.text() }
        datas = dice.list { $0.data() }
        dates = dice.list { $0.date() }
        bigs = dice.list { $0.bigInt() }
        decimals = dice.list { $0.decimal() }
        urls = dice.list { $0.url() }
        nested = dice.list { $0.list { $0.text() } }
        textSet = Set(dice.list { $0.text() })
        intSet = Set(dice.list { $0.integer() })
        uuidSet = Set(dice.list { $0.uuid() })
        textMap = dice.map { $0.text() }
        doubleMap = dice.map { $0.double() }
        listMap = dice.map { $0.list { $0.integer() } }
        maybeFlag = dice.maybe { $0.bool() }
        maybeInt = dice.maybe { $0.integer() }
        maybeInt8 = dice.maybe { $0.integer() }
        maybeInt64 = dice.maybe { $0.integer() }
        maybeUint = dice.maybe { $0.integer() }
        maybeUint8 = dice.maybe { $0.integer() }
        maybeUint64 = dice.maybe { $0.integer() }
        maybeDouble = dice.maybe { $0.double() }
        maybeFloat = dice.maybe { $0.float() }
        maybeText = dice.maybe { $0.text() }
        maybeData = dice.maybe { $0.data() }
        maybeDate = dice.maybe { $0.date() }
        maybeUuid = dice.maybe { $0.uuid() }
        maybeUrl = dice.maybe { $0.url() }
        maybeDecimal = dice.maybe { $0.decimal() }
        maybeBig = dice.maybe { $0.bigInt() }
        maybeBigUnsigned = dice.maybe { $0.bigInt().magnitude }
        maybeLevel = dice.maybe { $0.element(of: Level.allCases) }
        maybeColor = dice.maybe { $0.element(of: Color.allCases) }
        maybePlace = dice.maybe { $0.place() }
        maybeInt64s = dice.maybe { $0.list { $0.integer() } }
        maybeUint64s = dice.maybe { $0.list { $0.integer() } }
        maybeDoubles = dice.maybe { $0.list { $0.double() } }
        maybeTexts = dice.maybe { $0.list { $0.text() } }
        maybeDatas = dice.maybe { $0.list { $0.data() } }
        maybeDates = dice.maybe { $0.list { $0.date() } }
        maybeBigs = dice.maybe { $0.list { $0.bigInt() } }
        maybeTextSet = dice.maybe { Set($0.list { $0.text() }) }
        maybeIntSet = dice.maybe { Set($0.list { $0.integer() }) }
        maybeTextMap = dice.maybe { $0.map { $0.text() } }
        maybeDoubleMap = dice.maybe { $0.map { $0.double() } }
    }
}

import TandemTesting

/// Names of shops, cafés and banks for random queries.
enum QueryNames {
    /// By script or language. Some names differ only in case, diacritics, width or normalization.
    static let groups = [
        [
            "Caffè Vergnano", "Caffe\u{300} Vergnano", "CAFFÈ VERGNANO", "Samsøe Samsøe", "Ptáček", "L’Oréal",
            "Bücherschrank", "Straße", "STRASSE", "8 à Huit",
        ],
        ["İş Bankası", "IŞIK", "ışık", "işik", "Şok", "İstanbul", "i\u{307}stanbul", "ISTANBUL"],
        ["Пятёрочка", "ПЯТЁРОЧКА", "Пятерочка", "Вітамін", "Вина Світу", "Българска кухня", "Йогурт", "И\u{306}огурт"],
        ["Γαλαξίας", "ΓΑΛΑΞΊΑΣ", "ΓΑΛΑΞΙΑΣ", "Κρητικός", "ΑΒ Βασιλόπουλος", "Μασούτης"],
        ["ნიკორა", "ᲜᲘᲙᲝᲠᲐ", "მადარტი", "ტერაბანკი"],
        ["أدنوك", "ادنوك", "بانک پارسیان", "كشك", "کشک", "قَهْوَة", "قهوة"],
        ["בנק דיסקונט", "שופרסל דיל", "שופרסל שלי"],
        ["星巴克咖啡", "宁波银行", "寧波銀行", "日本銀行", "CoCo壹番屋咖喱"],
        ["ピザーラ", "ﾋﾟｻﾞｰﾗ", "ヒ\u{309A}サ\u{3099}ーラ", "さぼてん", "ゆめタウン", "ＵＱモバイル", "UQモバイル"],
        ["신한은행", "하나은행", "투썸플레이스", "신협", "\u{1109}\u{1175}\u{11AB}\u{1112}\u{1167}\u{11B8}"],
        ["ธนาคารกรุงเทพ", "ธนาคารกรุงไทย", "ไปรษณีย์ไทย"],
        ["জনতা ব্যাংক", "সোনালী ব্যাংক"],
        ["Ֆլեշ", "ՖԼԵՇ", "Ֆլեշ Էներգի"],
        ["Bank of Africa ⵍⴱⴰⵏⴽ ⵏ ⴰⴼⵔⵉⵇⵢⴰ بنك أفريقيا", "ⵍⴱⴰⵏⴽ ⵏ ⴰⴼⵔⵉⵇⵢⴰ"],
    ]

    /// Returns some names of each group, and some real ones if ``BrandNames`` has them.
    static func sample(_ random: inout SeededGenerator) -> [String] {
        let real = BrandNames.all.isEmpty ? [] : (0..<12).map { _ in random.pick(BrandNames.all) }
        return groups.flatMap { group in [random.pick(group), random.pick(group)] } + real
    }

    /// Returns a part of a name in a spelling that a user may type.
    static func part(of name: String, _ random: inout SeededGenerator) -> String {
        let scalars = Array(name.unicodeScalars)
        let start = Int.random(in: 0..<scalars.count, using: &random)
        let end = Int.random(in: start..<scalars.count, using: &random)
        let part = String(String.UnicodeScalarView(scalars[start...end]))
        return random.pick([
            part, part.uppercased(), part.lowercased(), part.decomposedStringWithCanonicalMapping,
        ])
    }
}

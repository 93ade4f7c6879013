import Foundation
import TestSupport
import Testing

@testable import SQLiteCipher

/// Vectors that Scripts/vectors.py computed from the formats' description, with another implementation of the
/// primitives (Python's hashlib and cryptography). A change of any of these bytes is a change of the format.
enum Vectors {
    static let gcmPage1 =
        """
        a0a1a2a3a4a5a6a7a8a9aaabacadaeaf404142434445464748494a4b295fe4a5c1c04b47e90a964d143326120c777a81540e24e90ab0\
        e65402f75d7099608cd0d7c8ee72e8c786ad90931836cccc43021b3bf14a303adf8c4ef5d5bb5a215159c82e1f7b338ecee5720dc964\
        a5bc23c7a99aa4fa110cba87779758cd8f2b85fb978571457125552ae1f99b0f88e88e8a77cfec0357efe2c8d4d9be0dac0c0b2a561a\
        33f44f295a978d4c2e9f8cbeb1b333b066e6d6844480d77fc8fa12e3b337faf8ee1325f4e43049eacdd1288830956644e1a21901691a\
        4a96bd425f757085faf0a9a390558da3e9f5ae2b6549721425fa76845ab9ea8c88129b9196a7ed3df9c086e497bde838bf9ed85bdc07\
        e0883649515e3e3c9eba7e78895671e4931f1726ad0fc214534a737ba31a9139d59fc25e2c57b8f29addacb55d32334a337fd421407f\
        3a5ef1e71477056fb2d132d0dcf34ad68016d3226c6ffba9721e191316d12eac2aa9d052f7f91331ca42bdd3ce8539f107a0483246bd\
        27edb25ff4a3663a3b4faf42800a9e7f3ed21dbb318129e7c16c211ebfdc3c4c50958a8e90babb2d827e33f2cf2a35b0cf16bac0b837\
        46cdc5c3eb425b19493422787c928a7d1e9d0f7c515c472966a6a2003f015ce75e62a8aec4a7dbe6ea725d87031edbc3090b3e2b7870\
        6a7d0030a9208da8b680bf1df9179d95cf2e0ee0c337025a9fdb6b726cda17d87fe853e7b71d8cf736f09004a50471f3b89f4d40d85c\
        8797421fd359e41dc1227d6d700ced0c944c0a57c2d81ffcc4fcc9f3ab3d0aab77928e1786b50e5b11ab3a1dbc8070bc3af3468f80ac\
        afa52784b776b85982f97b04b8ba4913dcc5421ff49ef72d90355a917343b6bb90882acf76261550cdf92149fbb393f8fa3c55eafea7\
        39aa00523c2782d1c43a008bd58279165d4f42f5170b00d5c5de6d62cb6c0e0f09134f60373d23a6e1d4be5732b79d7a05018b56abd6\
        7696c15ba86878b04ce9b2dd6e735dedac8571d1d610970caaab1db5e25d84fdc4923b579f2b8b99d6b09882591725a528e8d6611dff\
        13733f9c64d30fc5f132516d3dfa73d5acd2f0e3ca73c6cffcf07d690c3950640a4a5cbd96a9a49514c27435d94f2970e11bfef74861\
        feb98151343b9c3195243e1886a331854f80a0660f45eadf3839f3a0afce957ff789f16fe73c740edbf9117572c00b00e9edebf96ee5\
        0c9af15b0b119c5c2d4eb90ece4822498b68b2d5cd6b607c69399e032f783722aa65d9d144190d5b70fd67c5297959050fed4afda9e9\
        344e5f4c0b3b35c5c0da25559e61126d9948adebd1339fab353c8b9677592e5b4aa608587e2eeea48737c2536a2d02718b7c0c470d57\
        e4fe9d18ffaf56ae67d32b7f9ad1f2a81561e0605aa54e0b2f93d04a4b1a57382e79927ea9c519f211e9d1d7cc43e03301030201
        """
    static let gcmPage2 =
        """
        404142434445464748494a4b5a2e8b345271fcd67afb69bc87a291a39fe615f0279fb358b92179c5f106cae12ad1234144b999e37b76\
        391c0302efc75f5decb3a8aa663b43ab401dfd44422aa9d0bec85b9fa8eaa0ffb194e19c7ed5362dcc365a0b334ba29d251604e6cf5c\
        3c9a2a6a047486d4e294ea9b7268ec7e1b79213bc45e7bf2a47e7d596768299cdf7d64bbc5ab8465dcd8a5661edd992e1f2fdec24021\
        f1576515db11248e5f6ba1521ca669899982b6455b81da7b3a20bb199f24d5d576d36a90f68bf9272ad3ac849f1469411e320324f2d2\
        7a64199af6d89de5d66be135e928751dfb630c00251642ac6a317175040c57892c0faf2a4f964f3985d8c6afcdad012bcdc91ec70295\
        fc8e84971a9e51e5acbbe0ea14ab02a8baeeb1cfbbe60b63054c5f44caa380fb9cee475037eea9ef4e5687e6f29e21409d616f62dda7\
        f3874cb3dfde6c3881eff6828560993db9d8af236468a48059d352223d14ae40b431d7a335ccb07c01ee5b32f5cbccde3cf33fbb0dee\
        49a38e2a9e309a76569dd28f204d8ffdc704f9ffff2b289c35efa00330dba62178a72951d746355c527258d3c488bac5b5e9cf2325ec\
        8dec78edc2edf898f53755f1ac90f356edf33fdfb736447759c3ca16f0ef34529aba89baeb01150c93a11e911e3959714c8c6ea62e04\
        50bf7d9154a6b1eb304af8839b4b8469c059c076c06c1f669941239532f58262270efef14fcdf4e62d8e40e8538c52d3829ce39d5abd\
        07dd6526b149884d776d566258cc9d3ac423218615c479ca821a85ac2f11874da962e93e333d38d4541528e70be8156888f5572bdaa2\
        6b54d16e8bef64bc2784c9009cb2452a0739995ee9b766215a6892f8542200090dadc65b4116aa3b7723afb62d6077ab977a2613e687\
        eefed564647a6f44566fdaf3589df1fe9a82f8d1a4ac4cd7924529e6812602ebf6f01cc71867d907522adff9eb01f358214c9982ce7c\
        0334c2404161e49d353aae0475cc770c2b03a8e628ba18e8a9c10b13eea6b634c71925f08a4ea0e2a00d17a298544283fefcae0b8444\
        3f634f5259e2b1be6f61d2d8bfa8c795f9dbc32c2518330467b31ba44afe9ee172ea0106dbf0490812c05b4aefa002958d891932c274\
        d81113d7a0d479ae4fa86011107f06ee007862fe488dc79f4c8862e4ed51b8b17e7c180881749f2b46ca9860e32dbedf0ebf5dd9cdb8\
        78f925647efaffed1a4809929cc998b339942e40d7a8b2eae36c10b4bae8f6b4bc7cdd0c5a78abdfecfd9caa46b4af4bb6e429f0819c\
        66b93e7a66820c3a5a4df807e0e89dcad537fba9e9bf5d1528a651221dbc91c034cd9fd6faa6776f32a94c3ec1df1442b4ee29606539\
        e6900ff1c914f99abce2af3bdc87f39338528477ef202ea5912fa9acef269630a84469396d82d0c33b51b65bc2ab04b101030201
        """
    static let gcmPassphrasePage3 =
        """
        404142434445464748494a4b5b2a5619aa4d93b6ff1951ea005d8c63a4fa62312784da79e3b8e2240273757967bb529d8597aa819fe8\
        c09fe1a911477b8724344934338de45f1f01bbecedfa586d8bdc5a68f789b0f2099eb3e85075dff940234700cba8987aadf03c59aa56\
        a43668c08317232d8cb98ea4d76789e82008699028de1ab5087e696ac09eea195ded6a3f6873aa8f55d5a9afc9b14748e7de2c49a718\
        1c12a2b243db83a85a1907158d6664b9ca9769461741b0eb33657b95a5f1ed7482dbdedb89ddef80f3c4d72842874aaad945ae2dbc9b\
        3b3b5c762b88486080eaf13fbdb06723df21064d24858ddd854a81e04371df35eea8e37b15ed97e0ad08fdb2295d7990a6a069eb54a2\
        9ecbc84c3c42a1ee54bd204514b09f8b8d7af02d4d84767f91839d8078d1babae88c6523b566119149a00320f12b81217787c06c6e2b\
        e7d430082d37a39be93191ff83a189669131957bb99e72fca26e96a6d0db64fc1cc9362075895ae6122279282b34378d81df4e6aa3b3\
        a7d7f61a5358fabaecd8a425c2d5964b7b5d60df626bcf95df7b1dc44dc87968b0e08b14e6e0700ba1ab80c0ad2557274c5ca0b0ea81\
        fdaee3582375821337fa31a1a1a1f212a4f9f6169bcdb48e764952cf3501c53c31d76042dc5e68e5aa9e61b7304100ba71e3f65785f4\
        9be39b709a871f736847c4f62ef43e0805d454754f25fd9e0f6fc981bbdf2f33639a41c1046bf4ba14f3354493e6bb93a10da58d2ee0\
        9eba260abcd142a2705631ecdd987b381bf3bf69fcc31930c77e925076e36047364dcec24beba61edfa33e284250030252773ab34d8c\
        ef5a47d8d2b5cb0c2775d5440fa0cbfde292724845b70a9a50252dfa16648a1674a0e293e75525e2405d8cd397bb3dc2e1497428c25d\
        e1d2b0ff85122384bcd09ed563b117d8cd90026e0abeca41bd068d8dffb2548435254377fb0bb189b83421d1103cea78c7aeeae26bf1\
        9e5544c1fd272d6a28b90188e0ff780f54a9ba28f73c8106a58a4836797f9f6839cfbe457cc4ede8ec5965952350c0b9963372121f40\
        ac99bdd77e03fc77b27078cda26b0da8d8a5ca6d5c6a08838574779fd9703c5b2ce282847fbc4123addddf62faa50a5ae745c6ecf87f\
        3f4830d0179bb52a342b265acb25027ecc85f6c46c26849fbb96b20617976edbdaf4dee2b5ee54fb2c553039be4145ad526950fe0f68\
        da949aae5b25b4b64a66d2d2b2d1159343e6eac90d153360eaf6bdbcb4bf36c54c54f34ae6c8126c4e5a93bcee78f47000bdbde085a5\
        51349597dde87c886779cac029aca8331aa2ba5ef877003d0393f8160b2d42f045041250fd251de58e0aad2a33ee7ecb8d18d9d18259\
        2bcc1802a7117f52d0a5fb30828e1029b298c0351479f3814e90709300278ff358e2341cdd37d736bd4aec1c8ad9679301030201
        """
    static let sqlCipherPage2 =
        """
        e0a39dfd98da2c85887246f830579b3253977a54c399df9398236595324a74b5598248c0f92c4a748faf25bb28b47937630d957fad3c\
        43fa776828f9d847fe013ea08335a09778704e12487a0bac2721c7afa4b7b891ad8999c0da379c5eda075ec673ade6ac6978c664a16c\
        5a20696075254e00cafd3b9f863acca2b1efcf24fc7932a521d9a9dd8a692893d93a0b191cf46544873bdf8db5499b893282486ddaa6\
        650a2a605e25e218f009011363fd45b7dc0fbff27e6a73362525ebb0e338b4a191f2f9f339799b48dc2115d96128a1dad7f84c741b9a\
        53ab271795b5ad6a8868fbdfebe0b365c7e5f4f09d2106004a123068aff68dd0d0cf1f706cd9500d98b4463608f12aaa00af1b1d7044\
        0ef84dd92bd5584a9b77bb1c729c78ee1922b563aa2ba3b321a687d62152c2758689abff4332774704b723f4c7f36b41818b22412fc3\
        625b297ae3d28dc1ae9ef42e7aa60698cd74eb5fe4b95fd63afdf562a3f5d421834bd54bcf8e30173df362ddd33db1ec39ea8a9a2090\
        e5cdb4797204974cb96b8e59280cba9e9c1c70b7aabdc733ca4aff11d93b338e33e2a33555fdc4cf57c69d79664f6d417b7027932f04\
        e889a464a82b816a37cf3403bbeb6f86df65b7f8c48a044be3095bb4e7210ac2bc4f7010fa748963840bfb2d72d083aa9f2c1d39dc13\
        1c89014d51ef522c7881d47294cba2098e984e80a39fa6e266b1ea4fa09c23a1e4a659a10dccefd1a4cce40457372f8c4a381b263bca\
        19788c3bae4333359307f41d2ec5e0f2b37d27068a428979394efd91b98d83bfc4b95c8b0e235d9a035fd45544944c0b022a94df1141\
        f7e025a936e5e6134fba08292ed6d2ac0d6a88413ee15cd64e6839e6dd9e27e5ff39ac5829f8836b2337ba61c051992841e2bfdd07e2\
        00e8906c1fb9c32f8223afe7e341d7b7b3ba109037a01be90ae912ad8809e93ea9ddf5c9ec95b45f3c86acb0e1ceaf065260de8f065d\
        010d27d6770cf30e11e9eead2eb403cda3765c05972f0613f0ed6e80f57d6ea81a1cd7697f9130cb2d244abb1a5b2e2a7af2928f32b9\
        f7fe02618adb7a51a1d5c225cad0b9e2000125edff8037b586f5e5e7993efa6b8666c88afeeb7694fe5826a4873aa6cc981be93b8f51\
        c5eecee28678ef52e2941954610528861f9ce04efab1c49911494ddef875e51ff64329f1105f60f0a53eaa0fac5a248f8bd2e74381b3\
        0051332c5699e949cdc14ddbc84295321fdfd3b81c145025c8b4706c4782a8ce7dc4c0245559932997b7443cb3212e8675536d37786d\
        34dca61e2e51ee79636a0578b358bf57c2b2bbc9a848d223c938505152535455565758595a5b5c5d5e5faa2c4558b7897378563cccc6\
        9dacde9394c4f3e1de5a4d54dfb4e2a432553a12cb47227099dc58953fd94ad4c86d677f27c37482dde7166930aa85f749ce3e63
        """
    static let file =
        """
        53514c4346696c650110000000000000606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f125513cf2079\
        a053273fa51b2ce4efbf2b11651c52
        """
}

@Suite("The formats match their description", .ownThreads)
struct VectorTests {
    private static let salt = [UInt8](0xA0..<0xB0)

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).map { UInt8($0 < 58 ? $0 - 48 : $0 - 87) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private func decrypt(_ hex: String, _ key: CipherKey, _ profile: CipherProfile, page: UInt32) throws -> [UInt8]? {
        let codec = PageLayout.codec(try DerivedKeys(key: key, salt: Self.salt, profile: profile), profile: profile)
        var page = (number: page, stored: bytes(hex))
        let isAuthentic = try page.stored.withUnsafeMutableBytes {
            let start = try #require($0.baseAddress)
            return codec.decrypt(start, page: page.number, into: start)
        }
        return isAuthentic ? page.stored : nil
    }

    private func plain(_ page: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(($0 * 7 + page) % 256) } }

    @Test func `GCM pages match the vectors`() throws {
        let profile = CipherProfile.aes256gcm(pageSize: 1024, iterations: 1000)
        let first = try decrypt(Vectors.gcmPage1, testKey, profile, page: 1)
        #expect(first == PageLayout.magic + plain(1, 988)[16...] + [UInt8](repeating: 0, count: 36))
        let second = try decrypt(Vectors.gcmPage2, testKey, profile, page: 2)
        #expect(second == plain(2, 988) + [UInt8](repeating: 0, count: 36))
        let third = try decrypt(Vectors.gcmPassphrasePage3, .passphrase("correct horse"), profile, page: 3)
        #expect(third == plain(3, 988) + [UInt8](repeating: 0, count: 36))
        #expect(try decrypt(Vectors.gcmPage2, testKey, profile, page: 3) == nil)
    }

    @Test func `SQLCipher pages match the vectors`() throws {
        let profile = CipherProfile.sqlCipher4(pageSize: 1024)
        let page = try decrypt(Vectors.sqlCipherPage2, testKey, profile, page: 2)
        #expect(page == plain(2, 944) + [UInt8](repeating: 0, count: 80))
    }

    @Test func `encrypted files match the vectors`() throws {
        let scratch = try Scratch()
        try write(bytes(Vectors.file), to: scratch.path("f"))
        let reader = try EncryptedFile.Reader(
            path: scratch.path("f"), key: FileKey(raw: Array(10..<42)), context: "card 1")
        #expect(try Array(reader.read(at: 0, count: 10)) == Array("hello".utf8))
    }

    @Test func `nonces never repeat, and each connection writes under its own epoch`() throws {
        let keys = try DerivedKeys(key: testKey, salt: Self.salt, profile: .aes256gcm)
        var nonces: Set<[UInt8]> = []
        var epochs: Set<[UInt8]> = []
        let plain = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<20 {
            let codec = PageLayout.codec(keys, profile: .aes256gcm)
            for _ in 0..<200 {
                var stored = [UInt8](repeating: 0, count: 4096)
                try stored.withUnsafeMutableBytes { target in
                    try plain.withUnsafeBytes {
                        try codec.encrypt(#require($0.baseAddress), page: 2, into: #require(target.baseAddress))
                    }
                }
                nonces.insert(Array(stored[0..<12]))
                epochs.insert(Array(stored[4092...]))
            }
        }
        #expect(nonces.count == 4000)
        // Another test may count a fork meanwhile. After that, each connection begins another epoch.
        #expect(epochs.count >= 20)
    }
}

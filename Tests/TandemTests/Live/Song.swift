import Tandem

/// A song, which fans give stars, and which playlists contain.
@Model struct Song {
    @Folded var title: String
    var year = 0
    @Inverse(\Star.song) var stars: InverseLinks<Star>
    @Inverse(\Playlist.songs) var playlists: InverseLinks<Playlist>
}

/// A fan's star for a song. It is deleted with the song.
@Model struct Star {
    @OnDelete(.cascade) var song: Reference<Song>?
    var fan: Reference<Fan>?
    var weight = 1
}

@Model struct Fan {
    @Folded var name: String
    @Inverse(\Star.fan) var stars: InverseLinks<Star>
}

@Model struct Playlist {
    var name: String
    var songs: [Reference<Song>] = []
}

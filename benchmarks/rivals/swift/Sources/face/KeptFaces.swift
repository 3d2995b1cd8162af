// A store of 1,000 keys, through each of the Swift APIs.

import Kept

extension Keys {
  static let volume = Key(Names.volume, default: 50)
  static let device = Key(Names.device, default: "")
  static let absent = Key(Names.absent, default: 1)
}

final class Player {
  @Setting(.volume) var volume
  init(in store: Store) { _volume = Setting(.volume, in: store) }
}

struct KeptFaces {
  let settings, durable: Store
  let player: Player
  let handle: Handle<Int>

  init(in folder: String) throws {
    settings = try Store.open(folder)
    durable = try Store.open(folder, options: StoreOptions(durability: .durable))
    player = Player(in: settings)
    handle = try settings.handle(.volume)
    try settings.transaction { all in
      for (name, number) in zip(Names.others, 0...) { try all.set(number, for: Key(name, default: 0)) }
      try all.set(70, for: .volume)
      try all.set(Names.deviceText, for: .device)
    }
  }

  func close() {
    durable.close()
    settings.close()
  }

  // In separate functions, so that the optimizer does not use what it knows of one loop in another.
  @inline(never) func getSetting(_ count: Int) { for _ in 0..<count { blackHole(player.volume) } }
  @inline(never) func getHandle(_ count: Int) { for _ in 0..<count { blackHole(handle.value) } }
  @inline(never) func getSubscript(_ count: Int) { for _ in 0..<count { blackHole(settings[.volume]) } }
  @inline(never) func getAbsent(_ count: Int) { for _ in 0..<count { blackHole(settings[.absent]) } }
  @inline(never) func getText(_ count: Int) { for _ in 0..<count { blackHole(settings[.device].utf8.count) } }

  @inline(never) func setSetting(_ count: Int) { for value in 0..<count { player.volume = value } }
  @inline(never) func setHandle(_ count: Int) { for value in 0..<count { handle.value = value } }
  @inline(never) func setSubscript(_ count: Int) { for value in 0..<count { settings[.volume] = value } }
  @inline(never) func setDurable(_ count: Int) { for value in 0..<count { durable[.volume] = value } }
}

// Tells the shared stories in Swift.

import Foundation
import Testing

@Suite struct `Shared scenarios` {
  @Test(arguments: PlacedStory.all)
  func `a story ends as it is told`(told: PlacedStory) throws {
    let ground = try StoryGround(variables: told.story.variables)
    defer { ground.leave() }
    let location = told.place == "folder" ? ground.path("store") : "memory:\(UUID())"
    let telling = StoryTelling(location: location, on: ground)
    defer { telling.end() }
    try telling.tell(.object(["do": .text("open")]))
    for step in told.story.steps { try telling.tell(step) }
  }

  @Test func `every story can be read`() throws {
    #expect(try Story.all.get().count >= 30)
    #expect(!PlacedStory.all.isEmpty)
  }

  @Test func `what Swift cannot tell says why`() throws {
    for story in try Story.all.get() {
      guard let reason = story.reasonNotToTell else { continue }
      print("not told in Swift - \(story.title): \(reason)")
      #expect(reason.count >= 10)
    }
  }

  @Test func `an unknown step fails`() throws {
    let ground = try StoryGround(variables: [:])
    defer { ground.leave() }
    let telling = StoryTelling(location: "memory:", on: ground)
    defer { telling.end() }
    try telling.tell(.object(["do": .text("open")]))
    #expect(throws: StoryFault.self) { try telling.tell(.object(["do": .text("dance"), "key": .text("a")])) }
  }

  @Test func `an unknown field fails`() throws {
    let ground = try StoryGround(variables: [:])
    defer { ground.leave() }
    let telling = StoryTelling(location: "memory:", on: ground)
    defer { telling.end() }
    try telling.tell(.object(["do": .text("open")]))
    #expect(throws: StoryFault.self) {
      try telling.tell(.object(["do": .text("contains"), "key": .text("a"), "mood": .text("fine")]))
    }
  }
}

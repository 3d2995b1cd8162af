// Runs the shared scenarios in Swift.

import Foundation
import Testing

@Suite struct `Shared scenarios` {
  @Test(arguments: PlacedScenario.all)
  func `a scenario ends as it is told`(told: PlacedScenario) throws {
    let ground = try ScenarioGround(variables: told.scenario.variables)
    defer { ground.leave() }
    let location = told.place == "folder" ? ground.path("store") : "memory:\(UUID())"
    let telling = ScenarioRunner(location: location, on: ground)
    defer { telling.end() }
    try telling.tell(.object(["do": .text("open")]))
    for step in told.scenario.steps { try telling.tell(step) }
  }

  @Test func `every scenario can be read`() throws {
    #expect(try Scenario.all.get().count >= 30)
    #expect(!PlacedScenario.all.isEmpty)
  }

  @Test func `what Swift cannot tell says why`() throws {
    for scenario in try Scenario.all.get() {
      guard let reason = scenario.reasonNotToTell else { continue }
      print("not told in Swift - \(scenario.title): \(reason)")
      #expect(reason.count >= 10)
    }
  }

  @Test func `an unknown step fails`() throws {
    let ground = try ScenarioGround(variables: [:])
    defer { ground.leave() }
    let telling = ScenarioRunner(location: "memory:", on: ground)
    defer { telling.end() }
    try telling.tell(.object(["do": .text("open")]))
    #expect(throws: ScenarioFault.self) { try telling.tell(.object(["do": .text("dance"), "key": .text("a")])) }
  }

  @Test func `an unknown field fails`() throws {
    let ground = try ScenarioGround(variables: [:])
    defer { ground.leave() }
    let telling = ScenarioRunner(location: "memory:", on: ground)
    defer { telling.end() }
    try telling.tell(.object(["do": .text("open")]))
    #expect(throws: ScenarioFault.self) {
      try telling.tell(.object(["do": .text("contains"), "key": .text("a"), "mood": .text("fine")]))
    }
  }
}

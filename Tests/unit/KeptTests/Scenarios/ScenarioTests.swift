// Runs the shared scenarios in Swift.

import Foundation
import KeptCore
import Testing

@Suite struct `Shared scenarios` {
  @Test(arguments: PlacedScenario.all)
  func `a scenario passes`(placed: PlacedScenario) throws {
    let ground = try ScenarioGround(variables: placed.scenario.variables)
    defer { ground.leave() }
    let location = placed.place == "folder" ? ground.path("store") : "memory:\(UUID())"
    let runner = ScenarioRunner(location: location, on: ground)
    defer { runner.end() }
    try runner.run(.object(["do": .text("open")]))
    if placed.place == "folder", case .store(let store)? = runner.things["store"] { try store.keepSecretsPlain() }
    for step in placed.scenario.steps { try runner.run(step) }
  }

  @Test func `every scenario can be read`() throws {
    #expect(try Scenario.all.get().count >= 30)
    #expect(!PlacedScenario.all.isEmpty)
  }

  @Test func `a scenario that Swift cannot run gives the reason`() throws {
    for scenario in try Scenario.all.get() {
      guard let reason = scenario.reasonNotToRun else { continue }
      print("not run in Swift - \(scenario.title): \(reason)")
      #expect(reason.count >= 10)
    }
  }

  @Test func `an unknown step fails`() throws {
    let ground = try ScenarioGround(variables: [:])
    defer { ground.leave() }
    let runner = ScenarioRunner(location: "memory:", on: ground)
    defer { runner.end() }
    try runner.run(.object(["do": .text("open")]))
    #expect(throws: ScenarioFault.self) { try runner.run(.object(["do": .text("dance"), "key": .text("a")])) }
  }

  @Test func `an unknown field fails`() throws {
    let ground = try ScenarioGround(variables: [:])
    defer { ground.leave() }
    let runner = ScenarioRunner(location: "memory:", on: ground)
    defer { runner.end() }
    try runner.run(.object(["do": .text("open")]))
    #expect(throws: ScenarioFault.self) {
      try runner.run(.object(["do": .text("contains"), "key": .text("a"), "mood": .text("fine")]))
    }
  }
}

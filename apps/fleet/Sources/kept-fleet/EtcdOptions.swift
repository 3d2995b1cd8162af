// The members of etcd, and the credentials for them.

import ArgumentParser
import Etcd
import Fleet
import Glibc
import Kept

struct EtcdOptions: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("The members of etcd, such as https://etcd1.example.com:2379.", valueName: "url"))
  var etcd: [String] = []
  @Option(help: ArgumentHelp("The authorities of etcd's certificates, in PEM.", valueName: "file"))
  var ca: String?
  @Option(help: ArgumentHelp("The certificate of this client, in PEM.", valueName: "file"))
  var cert: String?
  @Option(help: ArgumentHelp("The key of this client's certificate, in PEM.", valueName: "file"))
  var key: String?
  @Option(help: ArgumentHelp("The user of etcd.", valueName: "name"))
  var user: String?
  @Option(
    help: ArgumentHelp(
      "The file with the user's password; etcd-password in $CREDENTIALS_DIRECTORY if that is set.", valueName: "file"))
  var passwordFile: String?
  @Flag(help: "Also send the password over http://, where others can read it in transit.")
  var plaintextPassword = false
  @Option(help: ArgumentHelp("How long one call to etcd may take.", valueName: "seconds"))
  var timeout = 5.0

  func validate() throws {
    for url in etcd where Endpoint(url) == nil {
      throw ValidationError("\"\(url)\" is not the URL of an etcd member; use https://host:2379 or http://host:2379")
    }
    if (cert == nil) != (key == nil) { throw ValidationError("--cert and --key must be given together") }
    if user == nil, passwordFile != nil { throw ValidationError("--password-file needs --user") }
    if plaintextPassword, user == nil { throw ValidationError("--plaintext-password needs --user") }
    if user != nil, !plaintextPassword, let readable = etcd.compactMap({ Endpoint($0) }).first(where: \.isReadable) {
      throw ValidationError(
        "--user would send the password to \(readable), where others can read it in transit; use https:// or "
          + "--plaintext-password")
    }
    if !(0.1...3600 ~= timeout) { throw ValidationError("--timeout must be between 0.1 and 3600 seconds") }
  }

  func cluster() throws -> Cluster {
    guard !etcd.isEmpty else { throw ValidationError("no etcd members were given; name them with --etcd") }
    let credentials = Environment.variable("CREDENTIALS_DIRECTORY")
    var login: Login?
    if let user {
      guard let file = passwordFile ?? credentials.map({ "\($0)/etcd-password" }) else {
        throw ValidationError("--user needs --password-file; the password cannot be given on the command line")
      }
      login = Login(user: user, passwordFile: file)
    }
    return Cluster(
      etcd.compactMap { Endpoint($0) }, tls: TLSFiles(authority: ca, certificate: cert, key: key), login: login,
      patience: .seconds(timeout))
  }
}

struct GroupOptions: ParsableArguments {
  @Option(
    name: .customLong("prefix"),
    help: ArgumentHelp(
      "The first part of the keys in etcd; default: /kept. The last of several wins.", valueName: "prefix"))
  var prefixes: [String] = []

  func group(_ identifier: String) throws -> Group {
    do throws(StoreError) { return try Group(identifier, prefixes: prefixes.isEmpty ? ["/kept"] : prefixes) } catch {
      // systemd starts a service with wrong options only once.
      throw ValidationError(error.message)
    }
  }
}

enum Environment {
  /// A variable; nil if it is not set or empty.
  static func variable(_ name: String) -> String? {
    guard let text = getenv(name).flatMap({ String(validatingCString: $0) }), !text.isEmpty else { return nil }
    return text
  }
}

/**
 * Hosts that package managers need, as data: names only. Nothing is allowed unless you list it. Beside each stands where its
 * maintainer describes the hosts. A host that serves content of many users can also receive what a command sends to it.
 */
export const hosts = {
  /** The registry of npm, for `npm`, `pnpm` and `yarn` (docs.npmjs.com, "config": `registry`). */
  npm: ['registry.npmjs.org'],
  /** The index of Python packages and its files (docs.pypi.org, "Index API"). */
  pypi: ['pypi.org', 'files.pythonhosted.org'],
  /**
   * Clones by https, the API, archives, raw files, releases and LFS (docs.github.com, "Allowed IP addresses and domains" and
   * api.github.com/meta, `domains`). Anyone can receive data in a repository there.
   */
  github: [
    'github.com',
    'api.github.com',
    'codeload.github.com',
    'raw.githubusercontent.com',
    'objects.githubusercontent.com',
    'release-assets.githubusercontent.com',
    'media.githubusercontent.com',
    'github-cloud.s3.amazonaws.com',
  ],
  /** The archive of Debian and its security updates (debian.org, "sources.list"). */
  debian: ['deb.debian.org', 'security.debian.org'],
  /** The index, the files and the API of Rust crates (doc.rust-lang.org/cargo, "Registries"). */
  crates: ['index.crates.io', 'static.crates.io', 'crates.io'],
  /**
   * The module proxy and the checksum database of Go (go.dev/ref/mod, `GOPROXY`, `GOSUMDB`). Left out is
   * `storage.googleapis.com`, where the proxy keeps some large files: anyone can have a bucket there.
   */
  golang: ['proxy.golang.org', 'sum.golang.org'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/**
 * Hosts of package managers, as data; nothing is allowed unless listed. Each entry names its source. A host with content of many users can
 * also receive data that a command sends.
 */
export const hosts = {
  /** The registry of npm, for `npm`, `pnpm` and `yarn` (docs.npmjs.com, "config": `registry`). */
  npm: ['registry.npmjs.org'],
  /** The index of Python packages and its files (docs.pypi.org, "Index API"). */
  pypi: ['pypi.org', 'files.pythonhosted.org'],
  /**
   * Clones by https, API, archives, releases and LFS (docs.github.com, "Allowed IP addresses and domains"; api.github.com/meta, `domains`).
   * Anyone can receive data in a repository there.
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
  /** Module proxy and checksum database of Go (go.dev/ref/mod). Without `storage.googleapis.com`, where anyone can have a bucket. */
  golang: ['proxy.golang.org', 'sum.golang.org'],
} as const satisfies Readonly<Record<string, readonly string[]>>

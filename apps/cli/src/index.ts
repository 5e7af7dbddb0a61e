#!/usr/bin/env node
// Every Node version must be able to parse this file, also a version that is too old: no imports, and only old syntax.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 18)) {
  void import('./main.ts').then(async ({ main }) => {
    process.exit(await main(process.argv.slice(2)))
  })
} else {
  process.stderr.write(
    `ws: needs Node 22.18 or newer, got ${process.versions.node}; install it from https://nodejs.org\n`,
  )
  process.exitCode = 2
}

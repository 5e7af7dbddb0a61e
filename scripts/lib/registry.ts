// Serves the packages that setup has installed as an npm registry does, until its parent ends. Sends its address to the parent.
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'

import { repositoryRoot } from './run.ts'

interface Installed {
  readonly name: string
  readonly version: string
}

const store = join(repositoryRoot, 'node_modules/.pnpm')
const folders = new Map<string, Map<string, string>>()
for (const path of globSync(['*/node_modules/*/package.json', '*/node_modules/@*/*/package.json'], { cwd: store })) {
  // the folder of a package is named after it, beside links to its dependencies
  const { name, version } = JSON.parse(readFileSync(join(store, path), 'utf8')) as Installed
  if (!path.startsWith(`${name.replace('/', '+')}@${version}`)) continue
  const versions = folders.get(name) ?? new Map<string, string>()
  folders.set(name, versions.set(version, dirname(join(store, path))))
}

const server = createServer(({ url = '' }, response) => {
  const [name = '', version] = decodeURIComponent(url.slice(1)).split('/-/')
  const versions = folders.get(name)
  const folder = versions?.get(version ?? '')
  if (versions === undefined || (version !== undefined && folder === undefined)) response.writeHead(404).end('{}')
  else if (folder === undefined) response.end(JSON.stringify(manifestOf(name, versions)))
  else {
    // equal files of a package are hard links here, which npm would leave out
    const tar = spawn(
      'tar',
      ['-cf', '-', '--hard-dereference', '--exclude=./node_modules', '--transform=s,^\\.,package,', '.'],
      { cwd: folder },
    )
    tar.stdout.pipe(response)
  }
})

function manifestOf(name: string, versions: ReadonlyMap<string, string>): object {
  const all = [...versions].map(([version, folder]) => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Installed
    return [version, { ...manifest, dist: { tarball: `${address()}${name}/-/${version}` } }] as const
  })
  const latest = [...versions.keys()].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  return { name, 'dist-tags': { latest }, versions: Object.fromEntries(all) }
}

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

server.listen(0, '127.0.0.1', () => process.send?.(address()))
process.once('disconnect', () => process.exit())

// Serves the packages that setup has installed as an npm registry does, until its parent ends. Sends its address to the parent.
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'

import { repositoryRoot } from './run.ts'

const tarWords = ['-c', '--hard-dereference', '--exclude=./node_modules', '--transform=s,^\\.,package,', '.']
const folders = new Map<string, string>()
const documents = new Map<string, { 'dist-tags': object; versions: Record<string, object> }>()

const server = createServer(({ url = '' }, response) => {
  const path = decodeURIComponent(url.slice(1))
  const folder = folders.get(path)
  if (folder !== undefined) spawn('tar', tarWords, { cwd: folder }).stdout.pipe(response)
  else response.writeHead(documents.has(path) ? 200 : 404).end(JSON.stringify(documents.get(path)))
})
process.once('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  for (const file of globSync(join(repositoryRoot, 'node_modules/.pnpm/*/node_modules/{*,@*/*}/package.json'))) {
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as { readonly name: string; readonly version: string }
    const { name, version } = manifest
    // beside a package lie links to its dependencies
    if (!file.includes(`/.pnpm/${name.replace('/', '+')}@${version}`)) continue
    const path = `${name}/-/${version}`
    folders.set(path, dirname(file))
    const dist = { tarball: address + path }
    const versions = { ...documents.get(name)?.versions, [version]: { ...manifest, dist } }
    documents.set(name, { 'dist-tags': { latest: version }, versions })
  }
  process.send?.(address)
})

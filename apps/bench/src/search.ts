import { spawn } from 'node:child_process'
import { join } from 'node:path'

import { rgPath } from '@vscode/ripgrep'

import { drain, type Measurement, type Way, compare, own } from './measure.ts'
import { makeDirectory, makeFile, openSite } from './site.ts'

const needle = 'needle-in-the-hay'
const directories = 100
const filesEach = 100
/** One file in so many holds a match. */
const every = 200

/** Searches a literal text in 10,000 files of 1 to 3 KiB; 50 of them hold it. */
export async function measureSearch(report: (measurement: Measurement) => void): Promise<void> {
  await using site = await openSite()
  plant(site.directory)
  const expected = (directories * filesEach) / every
  const reference: Way = { name: 'plain ripgrep', run: () => plainRipgrep(join(site.directory, 'hay')) }
  const ours: Way = {
    name: own,
    async run() {
      const found = await drain(site.workspace.search(needle, { in: `${site.workspace.root}/hay`, maxHits: 100_000 }))
      if (found !== expected) throw new Error(`${found} hits, not ${expected}`)
    },
  }
  const options = { name: 'search 10,000 files', count: 1, budget: 10_000, target: 1.15 }
  report(await compare('search', { ...options, reference, ways: [ours] }))
}

function plant(directory: string): void {
  const line = 'The quick brown fox jumps over the lazy dog, and goes on to the next line of the file.\n'
  for (let outer = 0; outer < directories; outer += 1) {
    makeDirectory(join(directory, `hay/d${outer}`))
    for (let inner = 0; inner < filesEach; inner += 1) {
      const index = outer * filesEach + inner
      const text = line.repeat(12 + (index % 24))
      makeFile(join(directory, `hay/d${outer}/f${inner}.txt`), index % every === 0 ? `${text}${needle}\n${text}` : text)
    }
  }
}

/** Sees the same files as a search of the workspace, which leaves out nothing. */
function plainRipgrep(directory: string): Promise<number> {
  const options = ['--no-config', '--hidden', '--no-ignore', '--fixed-strings', '--line-number', '--with-filename']
  return new Promise((resolve, reject) => {
    let bytes = 0
    const child = spawn(rgPath, [...options, '--', needle, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length))
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 && bytes > 0 ? resolve(bytes) : reject(new Error(`ripgrep ended with ${code}`)),
    )
  })
}

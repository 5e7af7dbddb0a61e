import { spawn } from 'node:child_process'
import { join } from 'node:path'

import { rgPath } from '@vscode/ripgrep'

import type { Contender } from './contenders/contender.ts'
import { others } from './contenders/others.ts'
import { ownContender } from './contenders/own.ts'
import { type Measurement, type Way, compare } from './measure.ts'
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
  const contenders: Contender[] = [ownContender(site.workspace)]
  for (const open of [others['deepagents'], others['just-bash']]) {
    try {
      if (open !== undefined) contenders.push(await open(site.directory))
    } catch (error) {
      console.error(`cannot be driven here: ${String(error)}`)
    }
  }
  const reference: Way = { name: 'plain ripgrep', run: () => plainRipgrep(join(site.directory, 'hay')) }
  const ways = contenders.map(
    ({ name, operations: { search } }): Way => ({
      name,
      async run() {
        const found = await search?.('hay', needle)
        if (typeof found === 'number' && found !== expected) throw new Error(`${found} hits, not ${expected}`)
      },
    }),
  )
  const options = { name: 'search 10,000 files', count: 1, budget: 10_000, target: 1.15 }
  report(await compare('search', { ...options, reference, ways }))
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

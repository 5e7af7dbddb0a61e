import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { bundleForBrowser } from '@ws/test-fixtures/bundle'

import { repositoryRoot } from './run.ts'

const page = 'docs/kernel/core.md'
/** A row of the table: `| … | `names` of `door`, `more` of `another` | 4 kB | 2 kB |` */
const row = /^\| [^|]+ \| (`.+?` of `@ws\/.+?`) \| (\d+) kB \| (\d+) kB \|$/gmu
/** The minimal fraction of a bundle's size in the table, with a tolerance of 1 kB. */
const least = 0.9

/** Bundles each piece in the table of core's page, from an installed core, and compares the sizes. */
export async function checkPieces(project: string): Promise<string[]> {
  const rows = [...readFileSync(join(repositoryRoot, page), 'utf8').matchAll(row)]
  const problems = rows.length === 0 ? [`pieces: ${page} has no table of them`] : []
  for (const [, pieces = '', minified = '', packed = ''] of rows) {
    const imports = [...pieces.matchAll(/`(.+?)` of `(.+?)`/gu)].map(
      ([, names, door]) => `export { ${names} } from '${door}'`,
    )
    const entry = join(project, 'piece.js')
    writeFileSync(entry, imports.join('\n'))
    const { code } = await bundleForBrowser(entry, [], true)
    const sizes = [Buffer.byteLength(code), gzipSync(code).length].map((bytes) => bytes / 1000)
    const fits = sizes.every((size, index) => {
      const most = Number([minified, packed][index])
      return size <= most && size >= most * least - 1
    })
    const shown = sizes.map((size) => `${size.toFixed(1)} kB`).join(' and ')
    if (!fits) problems.push(`pieces: ${pieces} is ${shown}; ${page} says ${minified} kB and ${packed} kB`)
  }
  return problems
}

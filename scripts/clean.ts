// Removes what builds and test runs leave behind. `node scripts/clean.ts` cleans the whole repository; with names, as in
// `node ../../../scripts/clean.ts dist`, only those below the working directory: packing starts so, since a stale file in
// dist would be packed too.
import { globSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'

const everything = ['{packages/*,packages/*/*,apps/*,lab/*}', 'test-fixtures', '.'].flatMap((folder) =>
  ['dist', 'coverage', 'bench-results', '.test-report', '.turbo'].map((name) => `${folder}/${name}`),
)

const names = process.argv.slice(2)
const cwd = names.length > 0 ? process.cwd() : resolve(import.meta.dirname, '..')
for (const name of names)
  if (!resolve(cwd, name).startsWith(`${cwd}/`))
    throw new Error(`clean: ${name} does not lie below the working directory; name a folder inside it`)
for (const path of globSync(names.length > 0 ? names : everything, { cwd })) {
  rmSync(resolve(cwd, path), { recursive: true, force: true })
}

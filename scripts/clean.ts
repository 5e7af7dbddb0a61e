// Removes the files of builds and test runs. With names, only below the working directory, since a package must not contain stale files
// of `dist`.
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

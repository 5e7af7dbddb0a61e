// Embeds each perl script of a built package in the module that reads it: a bundled program has no script file beside it.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const reads = /readFileSync\(new URL\('([\w-]+\.pl)', import\.meta\.url\), 'utf8'\)/gu
/** A script embedded by an earlier build: the compiler does not rewrite an unchanged module. */
const inlined = /\/\* ([\w-]+\.pl) \*\/ "(?:[^"\\]|\\.)*"/gu

const found = new Set<string>()
for (const path of globSync('dist/**/*.js')) {
  const built = readFileSync(path, 'utf8')
  const textOf = (_: string, script: string): string => {
    const source = join(dirname(path).replace(/^dist/u, 'src'), script)
    found.add(source)
    return `/* ${script} */ ${JSON.stringify(readFileSync(source, 'utf8'))}`
  }
  const whole = built.replace(inlined, textOf).replace(reads, textOf)
  if (whole !== built) writeFileSync(path, whole)
}
const lost = globSync('src/**/*.pl').filter((path) => !found.has(path))
if (lost.length > 0 || found.size === 0)
  throw new Error(`no built module reads ${lost.join(', ') || 'a perl script'}: build the package first`)

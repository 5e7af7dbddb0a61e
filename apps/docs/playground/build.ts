import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { bundleForBrowser, type Replacements } from '@ws/test-fixtures/bundle'

const here = import.meta.dirname
const globals = join(here, 'shims/globals.ts')
const executor = fileURLToPath(import.meta.resolve('@ws/executor-virtual'))
const justBash = fileURLToPath(import.meta.resolve('just-bash'))
/** Packages for programs and downloads, which browsers lack. */
const leftOut = '@lydell/node-pty @mongodb-js/zstd @ws/download execa node-liblzma quickjs-emscripten sql.js'.split(' ')

/** Replaces each module of Node by a module in `shims/`, by plain data, or by a function that throws. */
export const withoutNode: Replacements = {
  plugins: [
    {
      name: 'without-node',
      resolveId(id) {
        if (leftOut.includes(id)) return { id: `\0node:${id}`, moduleSideEffects: false }
        // the browser build of just-bash has no `parse`
        if (id === 'just-bash' || id === '#just-bash') return justBash
        return isBuiltin(id) ? { id: `\0node:${id.replace(/^node:/u, '')}`, moduleSideEffects: false } : undefined
      },
      load: (id) => (id.startsWith('\0node:') ? replacementOf(id.slice('\0node:'.length)) : undefined),
    },
  ],
  transform: {
    // locks on globals need `async_hooks`, so just-bash has no such locks in a browser
    define: { __BROWSER__: 'true', 'import.meta.url': 'self.location.href', 'import.meta.resolve': 'undefined' },
    inject: {
      Buffer: [globals, 'Buffer'],
      process: [globals, 'process'],
      setTimeout: [globals, 'setTimeout'],
      SharedArrayBuffer: [globals, 'SharedArrayBuffer'],
    },
  },
}

/** The source text that replaces a module of Node. */
async function replacementOf(name: string): Promise<string> {
  const own = join(here, `shims/${name.replace('/', '-')}.ts`)
  const text = existsSync(own) ? readFileSync(own, 'utf8') : ''
  const ours = Array.from(text.matchAll(/^export (?:class|const|function) (\w+)/gmu), ([, key]) => key)
  const from: Readonly<Record<string, unknown>> = leftOut.includes(name)
    ? { execa: undefined }
    : await import(`node:${name}`)
  const refused = (key: string) => `/*#__PURE__*/ refuse(${JSON.stringify(name)}, ${JSON.stringify(key)})`
  const names = Object.entries(from).filter(([key]) => /^\w+$/u.test(key) && key !== 'default' && !ours.includes(key))
  return [
    `import { refuse } from ${JSON.stringify(join(here, 'shims/refuse.ts'))}`,
    ...(text !== '' ? [`export * from ${JSON.stringify(own)}`] : []),
    ...names.map(([key, value]) => {
      const isData = ['string', 'number'].includes(typeof value) || key === 'constants'
      return `export const ${key} = ${isData ? JSON.stringify(value) : refused(key)}`
    }),
    `export default ${refused('default')}`,
  ].join('\n')
}

/** Writes the playground's scripts for the site. */
export async function buildPlayground(directory: string): Promise<void> {
  mkdirSync(join(directory, 'build'), { recursive: true })
  const bundle = async (input: string) => (await bundleForBrowser(input, ['@ws/source'], true, withoutNode)).code
  const page = await bundle(join(here, 'page.ts'))
  writeFileSync(join(directory, 'page.js'), `${page}\nexport const { mount } = bundle\n`)
  writeFileSync(join(directory, 'interpreter.js'), await bundle(join(executor, '../worker/main.ts')))
  copyFileSync(fileURLToPath(import.meta.resolve('jq-wasm/jq.wasm')), join(directory, 'build/jq.wasm'))
}

if (import.meta.main) await buildPlayground(process.argv[2] ?? join(here, '../.vitepress/dist/playground'))

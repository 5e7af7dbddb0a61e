// `bundle.ts [FOLDER…]` writes the JavaScript of packages into `dist`: one file for each door, and shared chunks. Types come from tsc.
import { globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

import { type Plugin, rolldown } from 'rolldown'

/** Modules that stay files of their own: threads, those that a bundler replaces by name, and pieces that browsers take alone. */
const alone = [
  'src/{worker,worker/main,python/thread,disk/ahead/thread}.ts',
  'src/long-lines{,-in-browsers}.ts',
  'src/{path/paths,policy/path-manager}.ts',
]

for (const folder of process.argv.length > 2 ? process.argv.slice(2) : ['.']) await bundle(resolve(folder))

async function bundle(folder: string): Promise<void> {
  const source = join(folder, 'src')
  const dist = join(folder, 'dist')
  for (const path of globSync('**/*.js{,.map}', { cwd: dist, exclude: ['just-bash'] })) rmSync(join(dist, path))
  const first = runFirst(folder)
  const inputs = [...doorsOf(folder), ...globSync(alone, { cwd: folder }), ...first]
  const build = await rolldown({
    cwd: folder,
    input: Object.fromEntries(inputs.map((path) => [relative('src', path).replace(/\.ts$/u, ''), join(folder, path)])),
    platform: 'neutral',
    // the helpers of `using` belong to the bundler
    external: (id) => !/^(?:[./]|@oxc-project\/)/u.test(id),
    plugins: [places(source)],
    // `sideEffects` in package.json is for users: a module that checks the version of Node stays
    treeshake: false,
    transform: { target: 'es2024' },
    checks: { ineffectiveDynamicImport: false },
    onLog: (_, { message }) => {
      throw new Error(`${folder}: ${message}`)
    },
  })
  await build.write({
    dir: dist,
    format: 'esm',
    chunkFileNames: '[name].js',
    // each file of an import takes time
    codeSplitting: {
      groups: [{ name: 'shared', test: (id) => !first.includes(relative(folder, id)), minShareCount: 3 }],
    },
    sourcemap: true,
    sourcemapExcludeSources: true,
    minifyInternalExports: false,
    comments: { legal: true, annotation: true, jsdoc: false },
  })
  await build.close()
}

/** The modules that `exports` and `bin` name. */
function doorsOf(folder: string): string[] {
  const { exports, bin = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly '@ws/source': string }>>
    readonly bin?: Readonly<Record<string, string>>
  }
  const doors = Object.values(exports).flatMap((target) => (typeof target === 'string' ? [] : [target['@ws/source']]))
  const programs = Object.values(bin).map((path) => path.replace('dist/', 'src/').replace(/\.js$/u, '.ts'))
  return [...new Set([...doors, ...programs])].map((path) => path.replace(/^\.\//u, ''))
}

/** Modules that act when they are imported. Inside a bundle, all that it imports from elsewhere would run before them. */
function runFirst(folder: string): string[] {
  return globSync('src/**/*.ts', { cwd: folder }).flatMap((path) =>
    [...readFileSync(join(folder, path), 'utf8').matchAll(/^import '(\.[^']+)'/gmu)].map(([, own = '']) =>
      join(dirname(path), own),
    ),
  )
}

/** Keeps `import.meta.url` as if each module were a file in `dist`, and puts the texts of perl scripts in. */
function places(source: string): Plugin {
  const scripts = /readFileSync\(new URL\('([\w-]+\.pl)', import\.meta\.url\), 'utf8'\)/gu
  const unread = new Set(globSync('**/*.pl', { cwd: source }).map((path) => join(source, path)))
  return {
    name: 'places',
    transform(code, id) {
      if (/import\.meta\.(?:dirname|filename)/u.test(code)) throw new Error(`${id}: use \`import.meta.url\``)
      const own = relative(source, id).replace(/\.ts$/u, '.js')
      const whole = code
        .replace(scripts, (_, script: string) => {
          const path = join(dirname(id), script)
          unread.delete(path)
          return `/* ${script} */ ${JSON.stringify(readFileSync(path, 'utf8'))}`
        })
        .replaceAll('import.meta.url', `import.meta.of("${own}")`)
      // no line moves
      return { code: whole, map: null }
    },
    renderChunk(code, { fileName }) {
      if (unread.size > 0) throw new Error(`no module reads ${[...unread].join(', ')}`)
      const whole = code.replace(/import\.meta\.of\("([^"]+)"\)/gu, (_, own: string) =>
        dirname(own) === dirname(fileName)
          ? 'import.meta.url'
          : `new URL("${relative(dirname(fileName), own)}", import.meta.url).href`,
      )
      return { code: whole, map: null }
    },
  }
}

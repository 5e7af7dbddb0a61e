import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { cp, mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { compileCache, ws, type Ended, type WsOptions } from './ws.ts'

const own = fileURLToPath(new URL('..', import.meta.url))

/**
 * Puts `ws` into a `node_modules` directory as npm does: as JavaScript, with everything that it depends on and without
 * optional packages. Dependencies are links to this repository.
 */
export async function installCli(nodeModules: string): Promise<void> {
  const folder = join(nodeModules, '@ws/cli')
  for (const path of globSync('src/**/*.ts', { cwd: own, exclude: ['src/demo.ts', 'src/demo/**'] })) {
    const file = join(folder, path.replace(/^src/u, 'dist').replace(/\.ts$/u, '.js'))
    await mkdir(dirname(file), { recursive: true })
    const code = stripTypeScriptTypes(await readFile(join(own, path), 'utf8'))
    await writeFile(file, code.replaceAll(/((?:from|import)\s*\(?')(\.[^']*)\.ts'/gu, "$1$2.js'"))
  }
  await cp(join(own, 'package.json'), join(folder, 'package.json'))
  const { dependencies } = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as { dependencies: object }
  for (const name of Object.keys(dependencies)) {
    const place = join(nodeModules, name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(await realpath(join(own, 'node_modules', name)), place)
  }
}

/** A package that says on standard error from where it was loaded. */
export async function plant(nodeModules: string, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const place = join(nodeModules, name)
    await mkdir(place, { recursive: true })
    await writeFile(join(place, 'package.json'), JSON.stringify({ name, type: 'module', exports: './index.js' }))
    await writeFile(join(place, 'index.js'), `process.stderr.write('loaded from ${nodeModules}\\n')\n`)
  }
}

export interface Call {
  readonly args: readonly string[]
  readonly cwd: string
}

/** Calls an installed `ws` several times in this process, where `NODE_PATH` and `HOME` mean nothing to `require`. */
export async function callInstalledHere(nodeModules: string, calls: readonly Call[]): Promise<Omit<Ended, 'bytes'>[]> {
  const { main } = (await import(join(nodeModules, '@ws/cli/dist/main.js'))) as { readonly main: WsOptions['main'] }
  const ended: Omit<Ended, 'bytes'>[] = []
  for (const { args, cwd } of calls) {
    const { bytes: _, ...others } = await ws(args, { cwd, ...(main && { main }) })
    ended.push(others)
  }
  return ended
}

/** The same in one process of its own. */
export async function callInstalled(
  nodeModules: string,
  calls: readonly Call[],
  env: NodeJS.ProcessEnv = {},
): Promise<Omit<Ended, 'bytes'>[]> {
  const script = `
    const { main } = await import(process.argv[1])
    const ended = []
    const write = process.stdout.write.bind(process.stdout)
    let texts
    for (const name of ['stdout', 'stderr']) {
      process[name].write = (chunk, ...others) => {
        texts[name] += chunk
        others.at(-1)?.()
        return true
      }
    }
    for (const { args, cwd } of JSON.parse(process.argv[2])) {
      process.chdir(cwd)
      texts = { stdout: '', stderr: '' }
      ended.push({ code: await main(args), ...texts })
    }
    write(JSON.stringify(ended), () => process.exit())`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...['--conditions=@ws/source', '--input-type=module', '--eval', script],
      ...[join(nodeModules, '@ws/cli/dist/main.js'), JSON.stringify(calls)],
    ],
    { env: { PATH: '/usr/bin:/bin', NO_COLOR: '1', NODE_COMPILE_CACHE: compileCache, ...env } },
  )
  return JSON.parse(stdout) as Omit<Ended, 'bytes'>[]
}

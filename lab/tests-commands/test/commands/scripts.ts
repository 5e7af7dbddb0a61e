import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import fs from 'node:fs'
import { join } from 'node:path'

import type { Outcome } from './executors.ts'
import { fill, readTree } from './fixture.ts'

/** Files besides the fixture, for scripts that want few of them. */
const more: Readonly<Record<string, string>> = {
  'd/x': 'x\n',
  'd/e/y': 'y\n',
  'data.json': '{"a":[1,2],"b":{"c":"x"}}\n{"a":[3]}\n',
}

/** Scripts of several lines, as coding agents write them: one after the other, with `%%` between two. */
export function readScripts(): readonly string[] {
  return ['shell.txt', 'agents.txt'].flatMap((name) =>
    fs
      .readFileSync(new URL(`scripts/${name}`, import.meta.url), 'utf8')
      .split(/^%%\n/m)
      .map((script) => script.replace(/\n$/, ''))
      .filter((script) => script !== ''),
  )
}

interface Run {
  /** Runs all of them; each in a directory of its own, which is named by its number. */
  run(work: string): Promise<readonly Omit<Outcome, 'tree'>[]>
}

/** Bash under bubblewrap, in one sandbox for all: starting one for each would take longer than all of them. */
export async function runInOneSandbox(executor: Executor, scripts: readonly string[]): Promise<readonly Outcome[]> {
  return withDirectories(scripts, {
    async run(work) {
      const driver = `for i in $(seq 0 ${scripts.length - 1}); do
        (cd "$i" && exec timeout 20 bash --noprofile --norc -c "$(cat "../.run/$i")" < /dev/null > "../.run/$i.out" 2> "../.run/$i.err")
        echo $? > ".run/$i.code"
      done`
      fs.mkdirSync(join(work, '.run'))
      for (const [index, script] of scripts.entries()) fs.writeFileSync(join(work, '.run', String(index)), script)
      give(join(work, '.run'))
      await using workspace = await createWorkspace({
        mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: work, owner: ordinaryOwner() }) }],
        executors: [executor],
      })
      const { exitCode, stderr } = await workspace.exec(driver, { shell: 'bash', login: false, timeout: 300_000 })
      if (exitCode !== 0) throw new Error(`the reference ended with ${exitCode}: ${stderr}`)
      const read = (index: number, kind: string) => fs.readFileSync(join(work, '.run', `${index}.${kind}`), 'latin1')
      return scripts.map((_, index) => ({
        exitCode: Number(read(index, 'code')),
        stdout: read(index, 'out'),
        stderr: read(index, 'err'),
      }))
    },
  })
}

/** Each script by a command of its own, in one workspace. */
export async function runEach(executor: Executor, scripts: readonly string[]): Promise<readonly Outcome[]> {
  return withDirectories(scripts, {
    async run(work) {
      await using workspace = await createWorkspace({
        mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: work, owner: ordinaryOwner() }) }],
        executors: [executor],
      })
      const outcomes: Omit<Outcome, 'tree'>[] = []
      for (const [index, script] of scripts.entries()) {
        const result = await workspace.exec(script, {
          cwd: String(index),
          shell: 'bash',
          login: false,
          timeout: 60_000,
        })
        const bytes = (text: string) => Buffer.from(text).toString('latin1')
        outcomes.push({ exitCode: result.exitCode, stdout: bytes(result.stdout), stderr: bytes(result.stderr) })
      }
      return outcomes
    },
  })
}

async function withDirectories(scripts: readonly string[], { run }: Run): Promise<readonly Outcome[]> {
  const scratch = await createScratchDirectory({ owner: ordinaryOwner() })
  try {
    const work = join(scratch.path, 'ws')
    fs.mkdirSync(work)
    give(work)
    for (const index of scripts.keys()) make(join(work, String(index)))
    const outcomes = await run(work)
    return outcomes.map((outcome, index) => ({ ...outcome, tree: readTree(join(work, String(index))) }))
  } finally {
    await scratch.remove()
  }
}

function make(directory: string): void {
  fs.mkdirSync(directory)
  give(directory)
  fill(directory)
  for (const [name, content] of Object.entries(more)) {
    const at = join(directory, name, '..')
    while (!fs.existsSync(at)) {
      const above = join(at, '..')
      if (!fs.existsSync(above)) fs.mkdirSync(above)
      fs.mkdirSync(at)
      give(above)
      give(at)
    }
    fs.writeFileSync(join(directory, name), content)
    give(join(directory, name))
  }
}

/** Gives a file or directory to the user that commands run as. */
function give(path: string): void {
  const { uid, gid } = ordinaryOwner()
  if (process.getuid?.() === 0) fs.chownSync(path, uid, gid)
}

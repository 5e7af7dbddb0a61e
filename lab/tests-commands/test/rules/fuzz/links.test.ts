import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, paths } from '@ws/core'
import type { Workspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { codeOf, deep } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { attemptsOf, drawLinks, operations, showSet } from './link-attempts.ts'
import { LinkTree, type LinkSet } from './link-trees.ts'

const seed = Number(process.env['WS_SEED'] ?? (deep ? Math.floor(Math.random() * 2 ** 31) : 20_261_129))
/** Operations that are tried; of the interpreter's, several are in one command. */
const most = deep ? { api: 14_000, interpreter: 4_000 } : { api: 1_000, interpreter: 100 }

const virtual = createVirtualExecutor()

async function open(set: LinkSet, interprets: boolean): Promise<Workspace> {
  const filesOf = (list: readonly string[]) => Object.fromEntries(list.map((path) => [`/${path}`, 'needle']))
  const project = createMemoryAdapter({ files: filesOf(set.files) })
  for (const [path, target] of Object.entries(set.links)) {
    const at = paths.parseMount(`/${path}`)
    const parent = path.includes('/') ? `/${path.slice(0, path.lastIndexOf('/'))}` : '/'
    await project.createDirectory(paths.parseMount(parent), { recursive: true })
    await project.createSymlink?.(at, target)
  }
  const mounted = createMemoryAdapter({ files: filesOf(set.mounted.map((path) => path.slice(2))) })
  return createWorkspace({
    mounts: [
      { at: set.root, adapter: project },
      ...(set.mounted.length === 0
        ? []
        : [{ at: `${set.root === '/' ? '' : set.root}/m`, adapter: mounted, access: 'read-only' as const }]),
    ],
    rules: set.written,
    executors: interprets ? [virtual] : [],
  })
}

describe('rule sets and links drawn by lot', () => {
  it(`[RU10] mean at the file API what a slow model says (WS_SEED=${seed})`, { tags: 'rounds' }, async () => {
    const tried = { refused: 0, named: 0, free: 0, unknown: 0 }
    for (let index = 0; tried.refused + tried.free < most.api; index += 1) {
      const set = drawLinks(seed + index)
      const root = set.root === '/' ? '/' : '/workspace/'
      let workspace = await open(set, false)
      for (const attempt of attemptsOf(set, new LinkTree(set))) {
        const { operation, path, must } = attempt
        if (operation === 'copyThrough') continue
        const code = await codeOf(operations[operation]?.act(workspace, path, root) ?? Promise.resolve())
        const isRefused = code === 'EACCES' || code === 'EROFS'
        if (must ? code === 'done' : attempt.free && isRefused) {
          expect.fail(
            `WS_SEED=${seed + index}: ${operation} ${path} is ${code}, and must ${must ? '' : 'not '}be refused\n${showSet(set)}`,
          )
        }
        if (must && attempt.judgement.named !== undefined) tried.named += 1
        tried[must ? 'refused' : attempt.free ? 'free' : 'unknown'] += 1
        if (code !== 'done') continue
        await workspace.close()
        workspace = await open(set, false)
      }
      await workspace.close()
    }
    console.info(`WS_SEED=${seed}`, tried)
  })

  it(`[RU10] mean in the interpreter what a slow model says (WS_SEED=${seed})`, {
    tags: ['all', 'rounds'],
  }, async () => {
    const tried = { refused: 0, free: 0 }
    for (let index = 0; tried.refused + tried.free < most.interpreter; index += 1) {
      const set = drawLinks(seed + index)
      const root = set.root === '/' ? '/' : '/workspace/'
      const attempts = [...attemptsOf(set, new LinkTree(set))].flatMap((attempt) => {
        const command = operations[attempt.operation]?.command?.(attempt.path, root)
        return command === undefined ? [] : [{ ...attempt, command }]
      })
      const fail = (what: string) => expect.fail(`WS_SEED=${seed + index}: ${what}\n${showSet(set)}`)
      const refused = attempts.filter(({ must }) => must)
      {
        await using workspace = await open(set, true)
        if ((await codeOf(workspace.exec('true'))) !== 'done') continue
        const lines = refused.map(({ command }, number) => `{ ${command}; } > /dev/null 2>&1 && echo ${number}`)
        const { stdout } = await workspace.exec(`${lines.join('\n')}\n:`)
        const done = stdout
          .trim()
          .split('\n')
          .filter(Boolean)
          .map((number) => refused[Number(number)]?.command)
        if (done.length > 0) fail(`must be refused: ${done.join('; ')}`)
        tried.refused += refused.length
      }
      for (const { command } of attempts
        .filter((attempt) => attempt.freeInShell)
        .filter((_one, number) => number % 9 === index % 9)) {
        await using workspace = await open(set, true)
        const { stderr } = await workspace.exec(command)
        if (/permission denied|read-only|not permitted/i.test(stderr))
          fail(`must not be refused: ${command}: ${stderr}`)
        tried.free += 1
      }
    }
    console.info(`WS_SEED=${seed}`, tried)
  })
})

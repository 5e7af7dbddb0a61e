import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, isWorkspaceError, rules, type CommandResult, type Rule, type Workspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'

const mebibyte = 1024 * 1024
/** Browser threads have no memory limit, so files, texts and output stay small. */
const executor = createVirtualExecutor({ limits: { maxFileBytes: 4 * mebibyte, maxOutputBytes: mebibyte } })
/** Milliseconds until a command is stopped, and then until the command is killed. */
const times = { timeout: 10_000, killGrace: 200 }
const skillsAt = '/skills'

/** Switches by their names in a link. `code` is the source text of the rule in a program. */
export const switches: Readonly<Record<string, { readonly code: string; readonly make?: () => Rule }>> = {
  secrets: { code: "rules.deny('/secrets')", make: () => rules.deny('/secrets') },
  notes: { code: "rules.readOnly('/notes')", make: () => rules.readOnly('/notes') },
  protectSecrets: { code: 'rules.protectSecrets()', make: () => rules.protectSecrets() },
  protectHooks: { code: 'rules.protectHooks()', make: () => rules.protectHooks() },
  out: { code: "rules.withinOutput('/out')", make: () => rules.withinOutput('/out') },
  skills: { code: `{ at: '${skillsAt}', adapter, access: 'read-only' }` },
}

const operations = ['stat', 'list', 'read', 'write', 'append', 'createDirectory', 'delete', 'move', 'copy'] as const

/** Contents by path. `''` at a path with a trailing `/` is a directory. */
export type Files = Readonly<Record<string, string>>

/** A workspace in memory with file API and shell. @throws WorkspaceError for an invalid path */
export async function openEngine(files: Files, names: readonly string[]) {
  const all = Object.entries(files)
  const isSkill = ([path]: readonly [string, string]) => path.startsWith(`${skillsAt}/`)
  const skillFiles = all.filter(isSkill).map(([path, text]) => [path.slice(skillsAt.length), text])
  const root = createMemoryAdapter({ files: Object.fromEntries(all.filter((entry) => !isSkill(entry))) })
  const skills = createMemoryAdapter({ files: Object.fromEntries(skillFiles) })
  const open = (chosen: readonly string[]) =>
    createWorkspace({
      mounts: [
        { at: '/', adapter: root },
        { at: skillsAt, adapter: skills, access: chosen.includes('skills') ? 'read-only' : 'read-write' },
      ],
      rules: chosen.flatMap((name) => switches[name]?.make?.() ?? []),
      executors: [executor],
      scratch: false,
    })
  let workspace = await open(names)
  const plain = await open([])

  return {
    /** The workspace with the current rules. */
    get workspace(): Workspace {
      return workspace
    },
    /** Opens the workspace again with other rules over the same files. */
    async use(chosen: readonly string[]): Promise<void> {
      const before = workspace
      workspace = await open(chosen)
      await before.close()
    },
    /** Operations, grouped by their answer at a path: allowed, or code, rule, reason and remedy. */
    async explain(path: string): Promise<Map<string, string[]>> {
      const answers = new Map<string, string[]>()
      for (const operation of operations) {
        const { effect, code, rule, reason, remedy } = await workspace.explain({ operation, path })
        const why = [code, rule && `by ${rule}:`, path, reason && `${reason};`, remedy].filter(Boolean).join(' ')
        const answer = effect === 'allow' ? 'allowed' : why
        answers.set(answer, [...(answers.get(answer) ?? []), operation])
      }
      return answers
    },
    /** Runs a command. `started` receives a function that ends the command. */
    async run(command: string, started?: (stop: () => void) => void): Promise<CommandResult> {
      const running = await workspace.spawn(command, times)
      started?.(() => running.kill('SIGKILL'))
      return running.wait()
    },
    /** All text files, regardless of rules, and the paths of entries that are not text files. */
    async save(): Promise<{ readonly files: Files; readonly left: readonly string[] }> {
      const saved: Record<string, string> = {}
      const left: string[] = []
      for await (const { path, type } of plain.list('/', { recursive: true })) {
        try {
          if (type === 'symlink') left.push(path)
          else if (type === 'file') saved[path] = await plain.readText(path)
          else if (path !== skillsAt) saved[`${path}/`] = ''
        } catch (error) {
          if (!isWorkspaceError(error, 'EINVAL')) throw error
          left.push(path) // the bytes of this file are not text
        }
      }
      return { files: saved, left }
    },
  }
}

import type { BindPlan } from '../contract/bind-plan.ts'
import { findTurnedLinks } from './binds/cover-links.ts'
import { findMatches } from './binds/cover-names.ts'
import type {
  CommandInput,
  CommandOutput,
  CommandResult,
  ExecutorResult,
  RuleHint,
  RuleViolation,
  RunningCommand,
  StartedCommand,
} from '../contract/executor.ts'
import type { CommandRun } from '../checkpoints/runs.ts'
import { typedError } from '../executor/exec-error.ts'
import type { EndedCommand } from './admission.ts'
import { getCommandResult, withExitStatus, withResult } from '../executor/killed.ts'
import type { Beginning, Clock } from '../calls/audit.ts'
import { tellWatches, type WorkspaceState } from '../calls/context.ts'
import { isWorkspaceError } from '../errors.ts'
import { isWithin, parseVirtualPath, relativeTo } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { Gate } from '../mount/gate.ts'
import type { LinkTracer } from '../mount/trace-links.ts'

/** Maximum number of hints, and of violations, in a result. */
const mostListed = 100

export interface Judging {
  readonly clock: Clock
  readonly gate: Gate
  readonly tracer: LinkTracer
  readonly plan: BindPlan
  readonly cwd: VirtualPath
  readonly acknowledged: ReadonlySet<string>
  readonly end?: EndedCommand | undefined
  readonly changes?: CommandRun['changes']
  readonly state: WorkspaceState
}

/** Wraps a command for callers. Adds two lists to its result: new names that match pattern rules, and rules that may explain a failure. */
export function judgeCommand(started: StartedCommand, input: CommandInput, judging: Judging): RunningCommand {
  const began = judging.clock.begin()
  const result = started.wait().then(
    async (ended) => {
      const judged = await judge(ended, judging, began)
      try {
        const notes = (await judging.end?.()) ?? []
        const changes = ended.survivors ? undefined : await judging.changes?.()
        return { ...judged, ...(notes.length > 0 && { notes }), ...(changes && { changes }) }
      } catch (error) {
        throw withResult(error, judged)
      } finally {
        await told(judging, ended.survivors)
      }
    },
    async (error: unknown) => {
      await judging.end?.().catch(() => undefined) // the first failure is thrown instead
      await told(judging, started.survivors)
      throw typedError(error, 'exec')
    },
  )
  /** The known result of a command that failed with an error. The output is omitted if it may contain denied content. */
  let known: CommandResult | undefined
  result.catch((error: unknown) => {
    known = getCommandResult(error)
  })
  return {
    stdout: started.stdout,
    stderr: started.stderr,
    output: () => pickOutput(known ?? started.output()),
    writeInput: (data) => input.writeInput(data),
    endInput: () => input.endInput(),
    kill: (signal) => started.kill(signal),
    get survivors() {
      return started.survivors
    },
    wait: () => result,
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  }
}

/** Lets the watches see the changes of an ended command. Does not wait while survivors run: a look could block on the same mount. */
async function told({ state }: Judging, survivors: boolean | undefined): Promise<void> {
  const looked = tellWatches(state)
  if (survivors !== true) await looked
}

function pickOutput({ stdout, stderr, output, stdoutBytes, stderrBytes, truncated }: CommandOutput): CommandOutput {
  return { stdout, stderr, output, stdoutBytes, stderrBytes, truncated }
}

async function judge(ended: ExecutorResult, judging: Judging, began: Beginning): Promise<CommandResult> {
  // Does not scan while survivors run: the scan would block on the same mount.
  const made = ended.survivors ? [] : await findMade(judging)
  const violations = [...(ended.violations ?? []), ...made]
  const hints = findHints(ended, judging)
  return {
    ...withExitStatus(ended),
    ...(judging.clock.isGiven && { duration: judging.clock.since(began) }),
    ...(violations.length > 0 && { violations }),
    ...(hints.length > 0 && { hints }),
  }
}

/** Finds new matches of pattern rules, and protected links whose targets changed. Another process may have made these changes. */
export async function findMade({ plan, ...judging }: Judging): Promise<RuleViolation[]> {
  try {
    const { links = [] } = plan
    const turned = links.length === 0 ? [] : await findTurnedLinks(links, judging.tracer)
    if (plan.matched === undefined || judging.gate.declared.patterns.length === 0) return turned.slice(0, mostListed)
    const before = new Set(plan.matched)
    const { matches } = await findMatches(judging)
    const made = matches
      .filter(({ path, type }) => type !== 'missing' && !before.has(path))
      .map(({ path, pattern }): RuleViolation => ({ rule: pattern.rule.name, path, kind: 'created' }))
    return [...turned, ...made].slice(0, mostListed)
  } catch (error) {
    // The workspace was closed meanwhile. The command has ended anyway.
    if (isWorkspaceError(error, 'ECLOSED') || isWorkspaceError(error, 'ENOWORKSPACE')) return []
    throw error
  }
}

/** Git names a repository outside the mounts by its host path, which the hint must not show. */
const noRepository = {
  rule: 'mounts',
  access: 'none',
  reason: 'is or holds a worktree or submodule of git whose repository is in no mount',
  remedy:
    'mount the repository at the path that the file `.git` names (`ws exec --with-worktree`), or for a submodule the repository around it',
} as const

/** The phrases with which systems and languages report a refusal. */
const refusal = /read-only file system|permission denied|operation not permitted|\bE(?:ROFS|ACCES|PERM)\b/iu

/**
 * Finds the rules of protected paths that appear in standard error, absolute or relative to `cwd` or the root.
 * After exit code 0, only lines about refusals count.
 */
function findHints({ stderr, exitCode }: ExecutorResult, { gate, plan, cwd, acknowledged }: Judging): RuleHint[] {
  const refused = stderr.split('\n').filter((line) => refusal.test(line))
  const named = exitCode === 0 ? refused.join('\n') : stderr
  const hints: RuleHint[] = /^fatal: not a git repository: /mu.test(named) ? [{ ...noRepository, path: cwd }] : []
  const links = (plan.links ?? []).map(({ path, ...link }) => ({ ...link, at: path, kind: 'link' }))
  for (const { at, access, rules, kind } of [...plan.binds, ...links]) {
    if (hints.length >= mostListed) break
    if (access === 'read-write' || kind === 'mount' || rules.length === 0 || !isNamed(at, named, [cwd, plan.root]))
      continue
    for (const rule of rules) hints.push({ rule, path: at, access, ...reasonOf(rule, gate) })
  }
  for (const path of refused.slice(0, mostListed).flatMap((line) => pathsIn(line, { plan, cwd }))) {
    const hint = hintAt(path, gate)
    const isKnown = hints.some((other) => other.rule === hint?.rule && isWithin(path, other.path))
    if (hint !== undefined && !isKnown && !acknowledged.has(hint.rule)) hints.push(hint)
  }
  return hints.slice(0, mostListed)
}

/** Returns the paths in a message: all quoted texts, or the text before the refusal without its verb. */
function pathsIn(line: string, { plan, cwd }: Pick<Judging, 'plan' | 'cwd'>): VirtualPath[] {
  const quoted = [...line.matchAll(/["'`\u2018\u201c]([^"'`\u2018-\u201d]+)["'`\u2019\u201d]/gu)].map(
    ([, text = '']) => text,
  )
  const before = line.slice(0, line.search(refusal)).replace(/[\s:([,]+$/u, '')
  const last = before.slice(before.lastIndexOf(': ') + 1).trim()
  const bare = /^[a-z]+\S*\s/iu.test(last) ? last.slice(last.lastIndexOf(' ') + 1) : last
  return (quoted.length > 0 ? quoted : [bare]).flatMap((text) => {
    try {
      const path = parseVirtualPath(text, { base: cwd })
      const alias = plan.aliases.find((at) => isWithin(path, at))
      return [alias === undefined ? path : parseVirtualPath(relativeTo(path, alias))]
    } catch {
      return [] // not a path
    }
  })
}

/** Returns the rule of an area, or of a read-only mount, that prevents commands from writing a path. */
function hintAt(path: VirtualPath, gate: Gate): RuleHint | undefined {
  if (gate.namespace.find(path).mount === undefined) return undefined
  const [written, read] = (['write', 'read'] as const).map((need) => gate.decide({ operation: need, path, need }))
  if (written?.effect !== 'deny') return undefined
  const { rule, reason, remedy } = written
  return { rule, path, access: read?.effect === 'deny' ? 'none' : 'read-only', reason, remedy }
}

function isNamed(at: VirtualPath, text: string, bases: readonly VirtualPath[]): boolean {
  const relative = bases.filter((base) => isWithin(at, base)).map((base) => relativeTo(at, base).slice(1))
  return [at, ...relative].some((name) => name.length > 1 && holdsPath(text, name))
}

/** Returns whether `text` contains `path` as a whole path, not only as the end of a longer path. */
function holdsPath(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    if (
      !/[^\s'"`:=(]$/.test(text.slice(Math.max(0, at - 1), at)) ||
      /(?:^|[^\w./-])\.\/$/.test(text.slice(Math.max(0, at - 3), at))
    )
      return true
  }
  return false
}

function reasonOf(name: string, { declared }: Gate): Pick<RuleHint, 'reason' | 'remedy'> {
  const rule =
    declared.patterns.find((pattern) => pattern.rule.name === name)?.rule ??
    declared.subtrees.find((subtree) => subtree.name === name)
  return { reason: rule?.reason, remedy: rule?.remedy }
}

import type { Workspace } from '@ws/core'
import { quoteForShell } from '@ws/core/executor'
import { seededRandom } from '@ws/test-fixtures'
import { denials, judge, type Judgement, type Question } from './link-oracle.ts'
import { addLinks, rootOf } from './link-trees.ts'
import type { LinkSet, LinkTree } from './link-trees.ts'
import type { Names } from './model.ts'
import { within } from './model.ts'
import { makeRuleSet } from './rule-sets.ts'

/** A file that attempts copy and move. */
const free = 'free.txt'
const away = 'away.txt'

type Asked = Omit<Question, 'path' | 'lookAlikes'>

interface Operation {
  /** The rights that it needs at the path, one after the other. */
  readonly needs: readonly Asked[]
  /** It needs {@link free} too, with these rights. */
  readonly source?: readonly Asked['right'][] | undefined
  readonly destination?: true | undefined
  /** Look-alikes can be removed and moved. */
  readonly removes?: true | undefined
  readonly act: (workspace: Workspace, path: string, root: string) => Promise<unknown>
  /** In a shell. Absent: a shell has no such call, or another one. */
  readonly command?: ((path: string, root: string) => string) | undefined
}

const follow = [{ right: 'write', followsLast: true }] as const
const stay = [{ right: 'write', followsLast: false }] as const
const still = { parents: false } as const
const q = quoteForShell

export const operations: Readonly<Record<string, Operation>> = {
  write: {
    needs: follow,
    act: (workspace, path) => workspace.write(path, 'x', still),
    command: (path) => `echo x > ${q(path)}`,
  },
  append: {
    needs: follow,
    act: (workspace, path) => workspace.append(path, 'x', still),
    command: (path) => `echo x >> ${q(path)}`,
  },
  edit: {
    needs: [{ right: 'read', followsLast: true }, ...follow],
    act: (workspace, path) => workspace.edit(path, () => new Uint8Array(1)),
  },
  chmod: {
    needs: follow,
    act: (workspace, path) => workspace.chmod(path, 0o640),
    command: (path) => `chmod 640 ${q(path)}`,
  },
  utimes: {
    needs: follow,
    act: (workspace, path) => workspace.utimes(path, { modifiedAt: 1000 }),
    command: (path) => `touch ${q(path)}`,
  },
  createDirectory: {
    needs: stay,
    act: (workspace, path) => workspace.createDirectory(path, { recursive: false }),
    command: (path) => `mkdir ${q(path)}`,
  },
  createSymlink: { needs: stay, act: (workspace, path) => workspace.createSymlink(path, 'x') },
  delete: {
    needs: stay,
    removes: true,
    act: (workspace, path) => workspace.delete(path),
    command: (path) => `rm ${q(path)}`,
  },
  moveAway: {
    needs: [{ right: 'read', followsLast: false }, ...stay],
    removes: true,
    destination: true,
    act: (workspace, path, root) => workspace.move(path, `${root}${away}`, still),
    command: (path, root) => `mv ${q(path)} ${q(`${root}${away}`)}`,
  },
  moveOver: {
    needs: stay,
    source: ['read', 'write'],
    act: (workspace, path, root) => workspace.move(`${root}${free}`, path, { ...still, overwrite: true }),
  },
  copyOver: {
    needs: stay,
    source: ['read'],
    act: (workspace, path, root) => workspace.copy(`${root}${free}`, path, { ...still, overwrite: true }),
  },
  copyThrough: {
    needs: follow,
    source: ['read'],
    act: () => Promise.reject(new Error('a shell only')),
    command: (path, root) => `cp ${q(`${root}${free}`)} ${q(path)}`,
  },
}

export interface Attempt {
  readonly operation: string
  /** Absolute. */
  readonly path: string
  /** A rule has to refuse it; `undefined` where the model does not know. */
  readonly must: boolean
  /** No rule may refuse it. */
  readonly free: boolean
  /** Nor what a shell needs besides: to look at each directory on the way, and to change the one that holds the entry. */
  readonly freeInShell: boolean
  readonly judgement: Judgement
}

/** Every operation at every path that is worth trying, with the judgement of the model. */
export function* attemptsOf(set: LinkSet, tree: LinkTree): Generator<Attempt, void, undefined> {
  const root = rootOf(set)
  const at = (path: string): Names => [...root, ...path.split('/')]
  for (const path of set.tried) {
    for (const [operation, { needs, source = [], destination, removes = false }] of Object.entries(operations)) {
      const own = needs.map((need) => ({ ...need, path: at(path) }))
      const others = [
        ...source.map((right) => ({ right, followsLast: false, path: at(free) })),
        ...(destination ? [{ right: 'write', followsLast: false, path: at(away) } as const] : []),
      ]
      const ask = (lookAlikes: boolean) => [...own, ...others].map((need) => judge(set, tree, { ...need, lookAlikes }))
      const strict = ask(true)
      const lenient = ask(!removes)
      const judgement = lenient.find(({ refused }) => refused) ?? lenient[0]
      if (judgement === undefined) continue
      const isKnown = strict.every(({ way, detour }) => isSettled(way.state) && !(detour && way.state === 'missing'))
      // Rules may name something in a directory.
      const isWhole = (removes || source.length > 0) && judgement.way.state === 'directory'
      const isAround = isWhole || namesBelow(set, at(path)) || strict.some(({ way }) => namesBelow(set, way.landed))
      const isFree = isKnown && !isAround && strict.every(({ refused }) => !refused)
      yield {
        operation,
        path: `/${at(path).join('/')}`,
        must: judgement.refused && (judgement.way.state !== 'foreign' || judgement.named !== undefined),
        free: isFree,
        freeInShell: isFree && strict.every(({ way }) => isOpenAround(set, way)),
        judgement,
      }
    }
  }
}

function isOpenAround(set: LinkSet, { hops, landed }: Judgement['way']): boolean {
  const ways = [...hops.map(({ path }) => path), landed]
  const above = ways.flatMap((path) => path.map((_name, length) => path.slice(0, length)))
  const isRoot = (path: Names): boolean => path.length < rootOf(set).length
  return [...above.filter((path) => !isRoot(path)), ...ways.map((path) => path.slice(0, -1))].every(
    (path) => isRoot(path) || denials(set, path, 'read').length + denials(set, path, 'write').length === 0,
  )
}

function isSettled(state: Judgement['way']['state']): boolean {
  return state !== 'nowhere' && state !== 'foreign'
}

/** Rules name something below, or deny a name that looks like it. */
function namesBelow(set: LinkSet, path: Names): boolean {
  const folded = (one: Names): Names => one.map((name) => name.toLowerCase())
  const isBelow = (one: Names): boolean => within(folded(one), folded(path)) && one.length > path.length
  return set.rules.some(
    (rule) =>
      (rule.kind === 'entries' && rule.entries.some(({ at }) => isBelow(at))) ||
      (rule.kind === 'exception' && isBelow(rule.entry.at)),
  )
}

/** The rules, and the tree with its links, that belong to a seed. */
export function drawLinks(seed: number): LinkSet {
  const random = seededRandom(seed)
  const set = makeRuleSet(random, { forCommands: true })
  return addLinks({ ...set, files: [...set.files, free] }, random)
}

/** How a set is shown when the model and the workspace do not agree. */
export function showSet(set: LinkSet): string {
  const { root, files, mounted, links, written } = set
  return JSON.stringify({ root, files, mounted, links, written }, undefined, 1)
}

import { parentPath, relativeTo } from '../../path/virtual-path.ts'
import type { VirtualPath } from '../../path/virtual-path.ts'
import { READ, WRITE, rightsOf } from '../../policy/access.ts'
import type { SubtreeRule } from '../../contract/policy.ts'
import type { Gate } from '../../mount/gate.ts'
import type { LinkTracer } from '../../mount/trace-links.ts'
import { mountRuleName } from '../../policy/namespace.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'
import { missingName, rightsIn } from './bind-list.ts'
import type { BindList, Node } from './bind-list.ts'
import type { Bind } from '../../contract/bind-plan.ts'
import { lookAt, VariantLook } from './disk-look.ts'
import { walkPatterns, type Walk } from './pattern-walk.ts'
import { maxParts, mergeMatches, tooManyParts } from './many-matches.ts'
import { maxDirectories, type Match } from './walk-memory.ts'

export interface CoverOptions {
  readonly gate: Gate
  readonly tracer: LinkTracer
  readonly root: VirtualPath
  readonly acknowledged: ReadonlySet<string>
}

/** Maximum number of other spellings that one command masks. Each mask makes the start slower. */
const maxVariants = 200

const tooManyVariants = {
  reason: `is one of more than ${maxVariants} other spellings of denied names, and a command can cover no more`,
  remedy: 'delete them through the file API',
}

const tooManyDirectories = {
  reason: `holds more than ${maxDirectories} directories to look into for what the rule is about`,
  remedy: 'name large directories in `skip` of the rule, or remove files that are not needed through the file API',
}

export async function findMatches({ gate, tracer, acknowledged }: Omit<CoverOptions, 'root'>): Promise<Walk> {
  const patterns = gate.declared.patterns.filter(({ rule }) => !acknowledged.has(rule.name))
  const rights = (node: Node): number => rightsAt(gate, acknowledged, node)
  return await walkPatterns({ gate, patterns, rightsAt: rights, acknowledged }, tracer)
}

export function rightsAt(gate: Gate, acknowledged: ReadonlySet<string>, node: Node): number {
  if (acknowledged.size === 0) return gate.rightsAt(node)
  let rights = READ | WRITE
  for (const rule of node.deniers) {
    if (!acknowledged.has(rule.name)) rights &= gate.ruleRights(rule, node.path)
  }
  const readOnly = node.mount?.access === 'read-only' && !acknowledged.has(mountRuleName(node.mount.at))
  return readOnly ? rights & READ : rights
}

/**
 * Masks entries under another spelling of a denied name. Skips FIFOs and sockets: any command can create these,
 * and a refusal because of a FIFO would block all later commands.
 */
export async function coverVariants(list: BindList, { gate, acknowledged }: CoverOptions): Promise<void> {
  const look = new VariantLook()
  let count = 0
  const denied = gate.declared.subtrees.flatMap((rule) => rule.entries.map((entry) => ({ ...entry, rule })))
  for (const { rule, path, access } of denied) {
    if (access !== 'none' || path === '/' || acknowledged.has(rule.name)) continue
    const mount = gate.namespace.find(path).mount
    if (mount?.adapter === undefined || !mount.caseSensitive) continue
    for (const variant of await look.variantsOf(path, mount)) {
      if (rule.entries.some((entry) => entry.path === variant)) continue
      if (count >= maxVariants) {
        list.restrict(rule.name, { path: variant }, 'deniedSubtrees', tooManyVariants)
        return
      }
      if (await maskVariant(list, variant, rule, mount)) count += 1
    }
  }
}

async function maskVariant(
  list: BindList,
  at: VirtualPath,
  rule: SubtreeRule<VirtualPath>,
  mount: WorkspaceMount,
): Promise<boolean> {
  const found = await lookAt(mount, at)
  if (found === 'link') list.linked.push({ path: at, rules: [rule.name], rights: 0, isPattern: true })
  if (found !== 'file' && found !== 'directory') return false
  if (list.around(at)?.kind === 'mask') return false
  // Commands without rights to the parent directory do not see the name, but would see a mask.
  const opensIt = list.binds.within(at).some(({ access }) => access !== 'none')
  if (rightsIn(list.around(parentPath(at))) === 0 && !opensIt) return false
  list.restrict(rule.name, { path: at }, 'deniedSubtrees')
  // Another rule may have bound this spelling, or entries below. Removes these binds, so that the mask covers everything.
  list.drop(at)
  list.pinAncestors(at, mount, list.around(at))
  const type = found === 'file' ? 'file' : 'directory'
  list.binds.set({ kind: 'mask', at, type, access: 'none', rules: [rule.name] })
  return true
}

/** Covers the matches of pattern rules, but not a FIFO or a socket. */
export async function coverMatches(
  list: BindList,
  { root, ...options }: CoverOptions,
): Promise<readonly VirtualPath[]> {
  const { gate } = options
  const { matches, overflow } = await findMatches(options)
  const found = matches.map(({ path }) => path)
  const first = matches[0]?.pattern.rule.name ?? gate.declared.patterns[0]?.rule.name
  if (overflow === 'directories' && first !== undefined) {
    list.restrict(first, { path: root }, 'deniedSubtrees', tooManyDirectories)
    return found
  }
  const isMany = matches.length > maxParts
  const parts = isMany ? await mergeMatches(matches.filter((match) => bindsMatch(list, match))) : matches
  // @defence more protected parts than bubblewrap can mount: too many matches
  if (parts.length > maxParts && first !== undefined) {
    list.restrict(first, { path: root }, 'deniedSubtrees', tooManyParts(parts, overflow !== undefined))
    return found
  }
  for (const match of parts) bindMatch(list, match)
  return found
}

/** Returns whether commands have more rights than the rule allows. */
function bindsMatch(list: BindList, { path, type, pattern: { rights } }: Match): boolean {
  if (type === 'other') return false
  if (type === 'symlink') return true
  return (
    (rightsIn(list.around(path)) & ~rights) !== 0 ||
    list.binds.within(path).some(({ access }) => (rightsOf(access) & ~rights) !== 0)
  )
}

function bindMatch(list: BindList, { path, type, mount, pattern, placeholder }: Match): void {
  if (type === 'other') return
  const { rule, rights } = pattern
  const rules = [rule.name]
  if (type !== 'symlink') bindPart(list, { path, type, mount, rights, rules, placeholder })
  else list.linked.push({ path, rules, rights, isPattern: true, filesOnly: pattern.match(path) === undefined })
}

interface Area extends Pick<Match, 'path' | 'type' | 'mount' | 'placeholder'> {
  readonly rights: number
  readonly rules: readonly string[]
}

/** Restricts commands to `rights` at and below a path. Does nothing if commands already have no other rights there. */
export function bindPart(list: BindList, { path, type, mount, rights, rules, placeholder = 'directory' }: Area): void {
  const around = list.around(path)
  // An inner part may have more rights than the part around it.
  const isWider = list.binds.within(path).some(({ access }) => (rightsOf(access) & ~rights) !== 0)
  if ((rightsIn(around) & ~rights) === 0 && !isWider) return
  const missing = type === 'missing' ? missingName({ path }, mount, placeholder) : undefined
  if (missing !== undefined && (rightsIn(around) & WRITE) === 0) return
  const field = rights === 0 ? 'deniedSubtrees' : 'subtrees'
  for (const rule of rules) list.restrict(rule, { path }, field, undefined, missing)
  // Removes the binds inside the part. A readable part gets its inner binds back, without the right to write.
  const inside = list.drop(path)
  list.pinAncestors(path, mount, around?.at === path ? list.around(parentPath(path)) : around)
  const own = inside.find(({ at }) => at === path)
  const bind: Bind = {
    kind: 'subtree',
    at: path,
    type: type === 'file' || missing?.content !== undefined ? 'file' : 'directory',
    access: 'read-only',
    rules,
    missing,
  }
  // A placeholder file contains nothing secret, and git must read it.
  if (rights === 0 && missing?.content === undefined) list.binds.set({ ...bind, kind: 'mask', access: 'none' })
  else {
    const source = mount.adapter?.hostPath?.(relativeTo(path, mount.at))
    list.binds.set(
      own === undefined ? { ...bind, source } : { ...own, access: 'read-only', rules: [...own.rules, ...rules] },
    )
    for (const one of inside) {
      if (one !== own) list.binds.set(one.access === 'read-write' ? { ...one, access: 'read-only' } : one)
    }
  }
}

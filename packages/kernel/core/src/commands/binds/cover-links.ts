import { quotePath } from '../../errors.ts'
import { isWithin, parentPath, relativeTo } from '../../path/virtual-path.ts'
import type { VirtualPath } from '../../path/virtual-path.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'
import type { LinkTrace, LinkTracer } from '../../mount/trace-links.ts'
import type { MissingName, RestrictionProblem, RuledLink } from '../../contract/bind-plan.ts'
import type { RuleViolation } from '../../contract/executor.ts'
import { missingName } from './bind-list.ts'
import type { BindList, RuledName } from './bind-list.ts'
import { bindPart, type CoverOptions } from './cover-names.ts'

export interface CoverLinksOptions extends Pick<CoverOptions, 'gate' | 'tracer'> {
  readonly reserves: (name: MissingName) => boolean
}

/**
 * Covers the targets of links under a rule. Such a link never causes a refusal, since any command can create one.
 * A dangling link on the rule's own path does cause a refusal: the host could create the target before the start.
 */
export async function coverLinks(list: BindList, options: CoverLinksOptions): Promise<readonly RuledLink[]> {
  const links: RuledLink[] = []
  for (const name of list.linked) {
    const { path, rules, rights } = name
    const trace = await options.tracer.trace(path)
    const access = rights === 0 ? 'none' : 'read-only'
    const covered = await coverTarget(list, name, trace, options)
    // @defence a link at a name under a rule, whose target: runs through a link to nowhere
    if (covered === false && name.isPattern !== true && trace.links[0]?.path !== path) {
      for (const rule of rules) list.restrict(rule, name, rights === 0 ? 'deniedSubtrees' : 'subtrees', turnable)
      continue
    }
    const way = wayOf(trace, covered === false)
    links.push({ path, rules, access, way, ...(typeof covered === 'object' && { problem: covered }) })
  }
  return links
}

/** Returns whether the target was covered, or why the target cannot be covered. */
async function coverTarget(
  list: BindList,
  name: RuledName,
  { links, landed, type }: LinkTrace,
  { gate, reserves }: CoverLinksOptions,
): Promise<boolean | RestrictionProblem> {
  const { mount, leadsToMount, path } = gate.namespace.find(landed)
  if (type === 'nowhere' || gate.isReserved(landed)) return false
  if ((path === landed && leadsToMount) || links.some((link) => isWithin(link.path, landed))) {
    return problem(`is a link to ${quotePath(landed)}, which holds the link itself or a whole mount`)
  }
  if (type === 'directory' && name.filesOnly)
    return problem(`is a link to the directory ${quotePath(landed)}, and the rule is about files`)
  if (type === 'other') return problem('is a link to a FIFO, a socket or a device, which cannot be covered')
  if (mount === undefined) return false
  if (type === 'missing') {
    const missing = await missingTarget(name, landed, mount)
    if (missing === undefined || !reserves(missing)) return false
  }
  bindPart(list, { path: landed, type, mount, rights: name.rights, rules: name.rules }) // @defence a link at a name under a rule, whose target: bind the target
  return true
}

/** Returns the name to reserve for a missing target. In a read-only directory, reserving would fail and refuse the command. */
async function missingTarget(
  { isPattern = false }: RuledName,
  landed: VirtualPath,
  mount: WorkspaceMount,
): Promise<MissingName | undefined> {
  for (let above = parentPath(landed); isWithin(above, mount.at); above = parentPath(above)) {
    const found = await mount.adapter?.stat(relativeTo(above, mount.at)).catch(() => undefined) // the loop tries the parent next
    if (found !== undefined) {
      const isOpen = found.type === 'directory' && ((found.mode ?? 0o200) & 0o200) !== 0
      return isOpen ? missingName({ path: landed }, mount) : undefined
    }
    if (isPattern || above === mount.at) return undefined
  }
  return undefined
}

function problem(reason: string): RestrictionProblem {
  return {
    reason: `${reason}, so commands are not kept from it`,
    remedy: 'remove the link, or name the real path in a rule',
  }
}

/** Returns a path's links and target as text, for comparison. Includes the target's type if the target is not covered. */
function wayOf({ links, landed, type }: LinkTrace, withType: boolean): string {
  return JSON.stringify([links, landed, withType ? type : undefined])
}

export async function findTurnedLinks(links: readonly RuledLink[], tracer: LinkTracer): Promise<RuleViolation[]> {
  const violations: RuleViolation[] = []
  for (const { path, rules, way, problem: uncovered } of links) {
    const why = uncovered ?? ((await isAsBefore(path, way, tracer)) ? undefined : turned)
    if (why !== undefined) for (const rule of rules) violations.push({ rule, path, kind: 'link', ...why })
  }
  return violations
}

async function isAsBefore(path: VirtualPath, way: string, tracer: LinkTracer): Promise<boolean> {
  const trace = await tracer.trace(path)
  return [true, false].some((withType) => wayOf(trace, withType) === way)
}

const turnable: RestrictionProblem = {
  reason: 'runs through a link that leads out of the workspace, or nowhere',
  remedy: 'remove the link, or name the real path in the rule',
}

const turned: RestrictionProblem = {
  reason: 'leads elsewhere than it did when the command started',
  remedy: 'look at it, and put the link back',
}

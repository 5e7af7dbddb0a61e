import { isWithin, parentPath } from '../../path/virtual-path.ts'
import type { VirtualPath } from '../../path/virtual-path.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'
import type { LinkTrace, LinkTracer } from '../../mount/trace-links.ts'
import type { MissingName, RestrictionProblem, RuledLink } from '../../executor/bind-plan.ts'
import type { RuleViolation } from '../../executor/contract.ts'
import { missingName } from './bind-list.ts'
import type { BindList, RuledName } from './bind-list.ts'
import { bindPart, type CoverOptions } from './cover-names.ts'

export interface CoverLinksOptions extends Pick<CoverOptions, 'gate' | 'tracer'> {
  /** The executor can keep commands from making this name. */
  readonly reserves: (name: MissingName) => boolean
}

/**
 * Covers the targets of links that have a name under a rule. Nothing about a link refuses a command: any command can make
 * one, and would keep all others from running.
 */
export async function coverLinks(list: BindList, options: CoverLinksOptions): Promise<readonly RuledLink[]> {
  const links: RuledLink[] = []
  for (const name of list.linked) {
    const { path, rules, rights } = name
    const trace = await options.tracer.trace(path)
    const access = rights === 0 ? 'none' : 'read-only'
    const covered = await coverTarget(list, name, trace, options)
    const way = wayOf(trace, covered === false)
    links.push({ path, rules, access, way, ...(typeof covered === 'object' && { problem: covered }) })
  }
  return links
}

/** @returns whether there is something that the rule holds for, or why it does not */
async function coverTarget(
  list: BindList,
  name: RuledName,
  { links, landed, type }: LinkTrace,
  { gate, tracer, reserves }: CoverLinksOptions,
): Promise<boolean | RestrictionProblem> {
  const { mount, leadsToMount, path } = gate.namespace.find(landed)
  if (type === 'nowhere') return false
  if ((path === landed && leadsToMount) || links.some((link) => isWithin(link.path, landed))) {
    return problem(`is a link to \`${landed}\`, which holds the link itself or a whole mount`)
  }
  if (type === 'directory' && name.filesOnly)
    return problem(`is a link to the directory \`${landed}\`, and the rule is about files`)
  if (type === 'other') return problem('is a link to a FIFO, a socket or a device, which cannot be covered')
  if (mount === undefined) return false
  if (type === 'missing') {
    const missing = await missingTarget(name, landed, mount, tracer)
    if (missing === undefined || !reserves(missing)) return false
  }
  bindPart(list, { path: landed, type, mount, rights: name.rights, rules: name.rules })
  return true
}

/** A rule by pattern holds for what exists: a link to a file that can be made at once counts. */
async function missingTarget(
  { isPattern }: RuledName,
  landed: VirtualPath,
  mount: WorkspaceMount,
  tracer: LinkTracer,
): Promise<MissingName | undefined> {
  if (isPattern && (await tracer.trace(parentPath(landed))).type !== 'directory') return undefined
  return missingName({ path: landed }, mount)
}

function problem(reason: string): RestrictionProblem {
  return {
    reason: `${reason}, so commands are not kept from it`,
    remedy: 'remove the link, or name the real path in a rule',
  }
}

/** The way that a link leads, to be compared; with the type of the entry there where nothing keeps it as it is. */
function wayOf({ links, landed, type }: LinkTrace, withType: boolean): string {
  return JSON.stringify([links, landed, withType ? type : undefined])
}

/** Compares links under rules with what they were when the command started: no bind can hold a link. */
export async function findTurnedLinks(links: readonly RuledLink[], tracer: LinkTracer): Promise<RuleViolation[]> {
  const violations: RuleViolation[] = []
  for (const { path, rules, way, problem: uncovered } of links) {
    const trace = uncovered ?? (await tracer.trace(path))
    const turned =
      'reason' in trace ? trace : wayOf(trace, true) !== way && wayOf(trace, false) !== way ? turnedAway : undefined
    if (turned !== undefined) for (const rule of rules) violations.push({ rule, path, kind: 'link', ...turned })
  }
  return violations
}

const turnedAway: RestrictionProblem = {
  reason: 'was a link when the command started, and leads elsewhere now',
  remedy: 'look at it, and put it back as it was',
}

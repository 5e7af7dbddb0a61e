import { joinPath, relativeTo } from '../../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../../path/virtual-path.ts'
import type { Gate } from '../../mount/gate.ts'
import type { LinkTracer } from '../../mount/trace-links.ts'
import { eachEntry, isGone } from './disk-look.ts'
import { overflowOf, strictest, type Tally, type Passage } from './walk-memory.ts'

/** Adds matches below a link, under the link's own name. Example: `.git/hooks` where `.git` is a link. */
export async function matchBelowLink(
  { path: link, patterns }: Passage,
  gate: Gate,
  tracer: LinkTracer,
  found: Tally,
  passed: readonly VirtualPath[] = [],
): Promise<void> {
  const { landed, type } = await tracer.trace(link)
  const { mount } = gate.namespace.find(landed)
  if (type !== 'directory' || mount === undefined || passed.includes(landed) || overflowOf(found) !== undefined) return
  const further: Passage[] = []
  const nameOf = (path: MountPath): VirtualPath => joinPath(link, relativeTo(joinPath(mount.at, path), landed))
  const add = (path: VirtualPath, concerned: Passage['patterns']): void => {
    const pattern = strictest(concerned)
    if (pattern !== undefined) found.matches.push({ path, type: 'symlink', mount, pattern })
  }
  const begunAt = (path: VirtualPath) => patterns.filter((pattern) => pattern.hasBegunAt(path))
  try {
    await eachEntry(
      mount,
      landed,
      (entry) => {
        if (entry.unreachable === true) return undefined
        const path = nameOf(entry.path)
        add(
          path,
          patterns.filter((pattern) => pattern.match(path, entry.type !== 'directory') !== undefined),
        )
        const begun = entry.type === 'symlink' ? begunAt(path) : []
        if (begun.length > 0) further.push({ path, patterns: begun })
        return overflowOf(found) === undefined ? undefined : 'stop'
      },
      {
        recursive: true,
        skips: (directory) => {
          found.directories += 1
          return begunAt(nameOf(directory)).length === 0
        },
        onUnreadable: (directory) => add(nameOf(directory), patterns),
      },
    )
  } catch (error) {
    if (!isGone(error)) throw error
  }
  for (const passage of further) await matchBelowLink(passage, gate, tracer, found, [...passed, landed])
}

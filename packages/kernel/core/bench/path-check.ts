/** Prints the nanoseconds that one path costs before any I/O. Run: `node --conditions=@ws/source bench/path-check.ts` in the package. */
import { parseInput } from '../src/path/segments.ts'
import type { VirtualPath } from '../src/path/virtual-path.ts'
import { Namespace } from '../src/policy/namespace.ts'
import { RulePolicy } from '../src/policy/policy.ts'
import { rules } from '../src/policy/rules.ts'
import type { Rule } from '../src/contract/policy.ts'
import { Gate } from '../src/mount/gate.ts'
import type { WorkspaceMount } from '../src/mount/mounts.ts'

interface Shape {
  readonly mounts: number
  readonly rules: number
  /** True if some rules deny. Names are then also compared case-folded. */
  readonly denying: boolean
}

const shapes: readonly Shape[] = [8, 1_000].flatMap((mounts) =>
  [20, 10_000].flatMap((count) => [false, true].map((denying) => ({ mounts, rules: count, denying }))),
)
const rounds = 15
const pathsEach = 4_096
const passes = 4

function gateOf(shape: Shape): Gate {
  const mounts = Array.from({ length: shape.mounts }, (_, index): WorkspaceMount => {
    const at = (index === 0 ? '/workspace' : `/workspace/mounts/m${index}`) as VirtualPath
    return { at, adapter: undefined, access: 'read-write', caseSensitive: true, owned: false, scratch: false }
  })
  const list: Rule[] = [rules.withinWorkspace('/workspace')]
  for (let index = 1; index < shape.rules; index += 1) {
    const path = `/workspace/project/part-${index % 100}/protected-${index}`
    list.push(shape.denying && index % 2 === 0 ? rules.deny(path) : rules.readOnly(path))
  }
  const policy = new RulePolicy(list)
  const { declared } = policy
  const namespace = new Namespace({ mounts, rules: policy.subtreeRules() })
  return new Gate({ namespace, policy, declared, root: '/workspace' as VirtualPath })
}

function pathsFor({ mounts }: Shape): string[] {
  return Array.from({ length: pathsEach }, (_, index) => {
    const path =
      index % 3 === 0
        ? `/workspace/mounts/m${1 + (index % Math.max(1, mounts - 1))}/src/module-${index}.ts`
        : index % 3 === 1
          ? `/workspace/project/part-${index % 100}/src/components/file-${index}.tsx`
          : `/workspace/docs/chapter-${index % 50}/section-${index}.md`
    return Buffer.from(path).toString('latin1')
  })
}

function measure(shape: Shape): number[] {
  const gate = gateOf(shape)
  const aliases = new Set<string>()
  const base = '/workspace' as VirtualPath
  const all: number[] = []
  for (let round = -3; round < rounds; round += 1) {
    const paths = pathsFor(shape)
    let found = 0
    const start = process.hrtime.bigint()
    for (let pass = 0; pass < passes; pass += 1) {
      for (const input of paths) {
        const { path } = parseInput(input, { base, aliases, operation: 'read' })
        if (typeof path === 'string' && gate.admit('read', path, 'read').mount !== undefined) found += 1
      }
    }
    const took = Number(process.hrtime.bigint() - start)
    if (found !== pathsEach * passes) throw new Error(`only ${found} paths were admitted`)
    if (round >= 0) all.push(took / found)
  }
  return all
}

console.log(JSON.stringify(shapes.map((shape) => ({ ...shape, nanoseconds: measure(shape) }))))

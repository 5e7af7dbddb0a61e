import { isWorkspaceError, paths } from '@ws/core'
import { LinkSignal, type StorageAdapter } from '@ws/core/adapter'
import { deep } from '@ws/test-fixtures'
import { seededRandom } from '@ws/test-fixtures/s3'
import { Volume } from 'memfs'
import { expect, it } from 'vitest'

import { createMemoryAdapter } from '../src/index.ts'
import { createVolumeAdapter } from '../src/volume.ts'

const seed = Number(process.env['WS_SEED'] ?? 20_261_129)
const steps = deep ? 20_000 : 500

/** Types, bits, contents and targets, by path. */
async function treeOf(adapter: StorageAdapter): Promise<Record<string, string>> {
  const tree: Record<string, string> = {}
  for await (const { path, type, mode = 0 } of adapter.list(paths.parseMount('/'), {
    recursive: true,
    details: true,
  })) {
    if (type === 'file') tree[path] = `${mode} ${Buffer.from((await adapter.read(path)).bytes).toString()}`
    else tree[path] = type === 'symlink' ? `-> ${String(await adapter.readSymlink?.(path))}` : type
  }
  return tree
}

async function outcome(work: () => Promise<unknown> | undefined): Promise<string> {
  try {
    await work()
    return 'done'
  } catch (error) {
    if (error instanceof LinkSignal) return `link ${error.at}`
    if (isWorkspaceError(error)) return error.code
    throw error
  }
}

/** `rmSync` of memfs follows a link. */
function remove(volume: Volume, path: string): void {
  if (volume.lstatSync(path).isDirectory()) volume.rmSync(path, { recursive: true })
  else volume.unlinkSync(path)
}

it(`[NF1] a volume and the adapter over it are one tree, whoever changes it (WS_SEED=${seed})`, {
  tags: 'rounds',
  timeout: 600_000,
}, async () => {
  const random = seededRandom(seed)
  const pick = <Of>(from: readonly Of[]): Of => from[Math.floor(random() * from.length)] as Of
  const volume = new Volume()
  const adapter = createVolumeAdapter(volume)
  const model = createMemoryAdapter()
  const places = ['/a', '/b', '/d', '/d/a', '/d/b', '/d/e', '/d/e/a'] as const
  const counts = { adapter: 0, volume: 0, refused: 0 }
  for (let step = 0; step < steps; step++) {
    const [path, other, mode, overwrite] = [
      pick(places),
      pick(places),
      pick([0o700, 0o744, 0o755]),
      pick([true, false]),
    ]
    const content = Buffer.from(`${step}`)
    const [byAdapter, byVolume] = pick<readonly [(on: StorageAdapter) => Promise<unknown> | undefined, (() => void)?]>([
      [(on) => on.write(paths.parseMount(path), content, { mode: 0o666 }), () => volume.writeFileSync(path, content)],
      [(on) => on.append?.(paths.parseMount(path), content)],
      [(on) => on.createDirectory(paths.parseMount(path)), () => volume.mkdirSync(path, { mode: 0o755 })],
      [(on) => on.delete(paths.parseMount(path), { recursive: true }), () => remove(volume, path)],
      [(on) => on.createSymlink?.(paths.parseMount(path), 'd/a'), () => void volume.symlinkSync('d/a', path)],
      [(on) => on.chmod?.(paths.parseMount(path), mode), () => volume.chmodSync(path, mode)],
      [(on) => on.move(paths.parseMount(path), paths.parseMount(other), { overwrite })],
      [(on) => on.copy(paths.parseMount(path), paths.parseMount(other), { overwrite, recursive: true })],
    ])
    const expected = await outcome(() => byAdapter(model))
    if (expected === 'done' && byVolume !== undefined && pick([true, false])) {
      byVolume()
      counts.volume++
    } else {
      expect(await outcome(() => byAdapter(adapter)), `step ${step}`).toBe(expected)
      counts[expected === 'done' ? 'adapter' : 'refused']++
    }
    if (step % 5 === 0) expect(await treeOf(adapter), `step ${step}`).toEqual(await treeOf(model))
  }
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(steps / 20)
})

import { paths } from '@ws/core'
import { defineAdapter, type DriverCapabilities, type MountPath, type StorageAdapter } from '@ws/core/adapter'
import { checkOption, checkOptions, option, type OptionShapes } from '@ws/core/options'

import { createMemoryAdapter } from './adapter.ts'
import { capabilitiesOf } from './capabilities.ts'
import { TreeDriver } from './driver.ts'
import type { VolumeFileSystem } from './volume/file-system.ts'
import { VolumeTree } from './volume/tree.ts'

export type { VolumeFileSystem } from './volume/file-system.ts'

interface VolumeAdapterOptions {
  /** The volume's directory to use as root, made if missing. Default `/`. */
  readonly root?: string | undefined
}

const operation = 'createVolumeAdapter'
const shapes: OptionShapes<VolumeAdapterOptions> = { root: option.text }
const functions = Object.keys({
  lstatSync: true,
  readdirSync: true,
  readlinkSync: true,
  readFileSync: true,
  writeFileSync: true,
  appendFileSync: true,
  mkdirSync: true,
  rmSync: true,
  unlinkSync: true,
  renameSync: true,
  symlinkSync: true,
  chmodSync: true,
  utimesSync: true,
} satisfies Record<keyof VolumeFileSystem, true>)

/**
 * An adapter for the files of a volume, shared live with code that uses it as `fs`. Conditions are checked against that code too.
 * A version depends on the content, so `stat`, a write and a detailed listing read each file. Closing leaves the volume unchanged.
 * @param fs a `Volume` or the `fs` of memfs, or another file system in memory with these functions of `node:fs`
 * @throws WorkspaceError `EINVAL` for an option, a missing function, and `node:fs` itself
 */
export function createVolumeAdapter(fs: VolumeFileSystem, options: VolumeAdapterOptions = {}): StorageAdapter {
  for (const name of functions) {
    checkOption(operation, `fs.${name}`, Reflect.get(Object(fs), name), option.required(option.function))
  }
  const isVolume = fs.lstatSync !== (process.getBuiltinModule('node:fs').lstatSync as unknown)
  const inMemory = option.of('a file system in memory; for the disk use @ws/adapter-local', (is) => is === true)
  checkOption(operation, 'fs', isVolume, inMemory)
  checkOptions<VolumeAdapterOptions>(options, shapes, { operation })
  const root = paths.parseMount(options.root ?? paths.mountRoot, operation)
  if (root !== paths.mountRoot) fs.mkdirSync(root, { recursive: true })
  return defineAdapter(new VolumeDriver(fs, root))
}

class VolumeDriver extends TreeDriver {
  readonly name = 'volume'
  readonly capabilities: DriverCapabilities = { ...capabilitiesOf(false), uniqueVersions: false }
  readonly #tree: VolumeTree

  constructor(fs: VolumeFileSystem, root: MountPath) {
    super()
    this.#tree = new VolumeTree(fs, root)
  }

  protected makeTree(): VolumeTree {
    return this.#tree
  }

  async createScratch(): Promise<StorageAdapter> {
    return createMemoryAdapter()
  }
}

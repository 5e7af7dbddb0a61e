/**
 * How a boundary is held against the command itself.
 *
 * - `kernel`: by the operating system; holds against a hostile program.
 * - `interpreter`: there is no process, every access goes through the workspace's own file door. Satisfies `kernel`.
 * - `names`: for the network alone. A list of host names is held, and the kernel closes every other way out. A host behind a listed
 *   name can still pass data on, so neither `kernel` nor `untrusted` takes it.
 * - `translated`: by rewriting what the program asks for; holds for programs that do not fight it.
 * - `none`: not at all.
 */
export type GuaranteeLevel = 'kernel' | 'interpreter' | 'translated' | 'names' | 'none'

/**
 * The guarantees of an executor, field by field. Declared by the executor, probed on this machine, required by the caller.
 */
export interface Guarantees {
  /** No content of a file outside the workspace's mounts and the system's programs can be read or changed. */
  readonly fileContent: GuaranteeLevel
  /** Nor can its existence, type, size or times be learnt. */
  readonly fileMetadata: GuaranteeLevel
  /**
   * No Unix socket of the host can be reached, neither by path nor by its abstract name. A socket that lies in a mount is content
   * of the workspace, as a FIFO is: a program of the host that listens there does so for commands as well. Bubblewrap closes those
   * too with `unixSockets: 'none'`.
   */
  readonly sockets: GuaranteeLevel
  /** No network can be reached; with `names`, the listed hosts alone. */
  readonly network: GuaranteeLevel
  /** No process outside can be seen, signalled or traced, and none that a command starts survives it. */
  readonly processes: GuaranteeLevel
  /**
   * Content and names in a mount with `access: 'read-only'` cannot be changed. Where mounts are not the kernel's own (proot
   * and sanitize under Landlock), permissions and times of files that the command's user owns still can: let another user own them.
   */
  readonly readOnlyMounts: GuaranteeLevel
  /** A rule that is stricter than its mount and still grants reading holds for its subtree. */
  readonly subtrees: GuaranteeLevel
  /** A subtree that a rule denies can be neither read nor changed. */
  readonly deniedSubtrees: GuaranteeLevel
  /** Rules that only the file API can judge (predicates, write-only subtrees) hold for commands too. */
  readonly apiRules: GuaranteeLevel
}

export type GuaranteeField = keyof Guarantees

/**
 * A caller's requirement: at least this level in each named field, or a preset. `untrusted` is for code that was not
 * reviewed: a kernel boundary in every field that a kernel can hold, and no mount whose `confinement` is `checked`.
 * `untrusted-by-name` takes listed hosts as well: a host of the list can then pass data on.
 */
export type Requirement = Partial<Guarantees> | keyof typeof requirementPresets

export const guaranteeFields = [
  'fileContent',
  'fileMetadata',
  'sockets',
  'network',
  'processes',
  'readOnlyMounts',
  'subtrees',
  'deniedSubtrees',
  'apiRules',
] as const satisfies readonly GuaranteeField[]

/** Nothing is held. */
export const noGuarantees: Guarantees = {
  fileContent: 'none',
  fileMetadata: 'none',
  sockets: 'none',
  network: 'none',
  processes: 'none',
  readOnlyMounts: 'none',
  subtrees: 'none',
  deniedSubtrees: 'none',
  apiRules: 'none',
}

const untrusted: Partial<Guarantees> = {
  fileContent: 'kernel',
  fileMetadata: 'kernel',
  sockets: 'kernel',
  network: 'kernel',
  processes: 'kernel',
  readOnlyMounts: 'kernel',
  subtrees: 'kernel',
  deniedSubtrees: 'kernel',
}

/** The levels that each preset asks for. */
export const requirementPresets = {
  untrusted,
  'untrusted-by-name': { ...untrusted, network: 'names' },
} as const satisfies Readonly<Record<string, Partial<Guarantees>>>

export const isPreset = (value: unknown): value is keyof typeof requirementPresets =>
  typeof value === 'string' && Object.hasOwn(requirementPresets, value)

const strength: Record<GuaranteeLevel, number> = { none: 0, names: 1, translated: 2, kernel: 3, interpreter: 3 }

/** True when a boundary of level `held` is good enough where `required` is asked for. */
export function satisfies(held: GuaranteeLevel, required: GuaranteeLevel): boolean {
  if (required === 'interpreter') return held === 'interpreter'
  return strength[held] >= strength[required]
}

/** The fields in which `held` falls short of `requirement`. */
export function unmetFields(held: Guarantees, requirement: Requirement | undefined): GuaranteeField[] {
  const required: Partial<Guarantees> = isPreset(requirement) ? requirementPresets[requirement] : (requirement ?? {})
  return guaranteeFields.filter((field) => !satisfies(held[field], required[field] ?? 'none'))
}

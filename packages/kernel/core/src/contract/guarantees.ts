/**
 * How firmly a boundary is enforced against the command.
 *
 * - `kernel`: by the operating system, also against a hostile program.
 * - `interpreter`: no process; every access goes through the file door. Satisfies `kernel`.
 * - `names`: for the network; only listed hosts are reachable. Such a host can pass data on, so it satisfies neither `kernel` nor
 *   `untrusted`.
 * - `translated`: by rewriting requests; a hostile program can escape.
 * - `none`: not at all.
 */
export type GuaranteeLevel = 'kernel' | 'interpreter' | 'translated' | 'names' | 'none'

/** Guarantees, field by field: declared by the executor, probed here, required by the caller. */
export interface Guarantees {
  /** No content of a file outside the workspace's mounts and the system's programs can be read or changed. */
  readonly fileContent: GuaranteeLevel
  /** The existence, type, size and times of such a file cannot be learnt. */
  readonly fileMetadata: GuaranteeLevel
  /**
   * No Unix socket of the host can be reached, by path or abstract name. A socket in a mount can be reached: it is workspace content.
   * Bubblewrap closes sockets in mounts too, with `unixSockets: 'none'`.
   */
  readonly sockets: GuaranteeLevel
  /** No network can be reached; with `names`, the listed hosts alone. */
  readonly network: GuaranteeLevel
  /** No process outside can be seen, signalled or traced. No process that a command starts survives the command. */
  readonly processes: GuaranteeLevel
  /** Nothing in a read-only mount can be changed; under proot and Landlock, except modes and times of a user's own files. */
  readonly readOnlyMounts: GuaranteeLevel
  /** A rule that allows reading and forbids writing is enforced for everything below its path. */
  readonly subtrees: GuaranteeLevel
  /** A subtree that a rule denies can be neither read nor changed. */
  readonly deniedSubtrees: GuaranteeLevel
  /** Rules that only the file API can judge (predicates, write-only subtrees) hold for commands too. */
  readonly apiRules: GuaranteeLevel
}

export type GuaranteeField = keyof Guarantees

/**
 * At least this level in each named field, or a preset. `untrusted`, for unreviewed code: a kernel boundary, and no `checked` mount.
 * `untrusted-by-name` also allows listed hosts, which can pass data on.
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

export const requirementPresets = {
  untrusted,
  'untrusted-by-name': { ...untrusted, network: 'names' },
} as const satisfies Readonly<Record<string, Partial<Guarantees>>>

export const isPreset = (value: unknown): value is keyof typeof requirementPresets =>
  typeof value === 'string' && Object.hasOwn(requirementPresets, value)

const strength: Record<GuaranteeLevel, number> = { none: 0, names: 1, translated: 2, kernel: 3, interpreter: 3 }

export function satisfies(held: GuaranteeLevel, required: GuaranteeLevel): boolean {
  if (required === 'interpreter') return held === 'interpreter'
  return strength[held] >= strength[required]
}

export function unmetFields(held: Guarantees, requirement: Requirement | undefined): GuaranteeField[] {
  const required: Partial<Guarantees> = isPreset(requirement) ? requirementPresets[requirement] : (requirement ?? {})
  return guaranteeFields.filter((field) => !satisfies(held[field], required[field] ?? 'none'))
}

/**
 * How strongly a limit on commands is enforced.
 *
 * - `kernel`: by the operating system, also against a hostile program.
 * - `interpreter`: without processes; every access passes the file API. Satisfies `kernel`.
 * - `names`: for the network; commands can reach only listed hosts. A listed host can pass data on, so this level satisfies neither
 *   `kernel` nor `untrusted`.
 * - `translated`: by rewriting system calls; a hostile program can escape.
 * - `none`: not enforced.
 */
export type GuaranteeLevel = 'kernel' | 'interpreter' | 'translated' | 'names' | 'none'

/** Guarantees by field. An executor states them, `probe` tests them on this machine, and `require` demands them. */
export interface Guarantees {
  /** Commands can neither read nor change file contents outside the workspace's mounts and the system's programs. */
  readonly fileContent: GuaranteeLevel
  /** Commands cannot learn the existence, type, size and times of files outside. */
  readonly fileMetadata: GuaranteeLevel
  /**
   * Commands can reach no Unix socket of the host, by path or abstract name. Sockets in a mount are workspace content and reachable.
   * Bubblewrap with `unixSockets: 'none'` also blocks sockets in mounts.
   */
  readonly sockets: GuaranteeLevel
  /** Commands can reach no network; with `names`, only the listed hosts. */
  readonly network: GuaranteeLevel
  /** Commands cannot see, signal or trace processes outside. No process that a command starts outlives the command. */
  readonly processes: GuaranteeLevel
  /** Commands cannot change read-only mounts. Exception: under proot and Landlock, modes and times of files that the user owns. */
  readonly readOnlyMounts: GuaranteeLevel
  /** A rule that allows reading and forbids writing is enforced on everything below its path. */
  readonly subtrees: GuaranteeLevel
  /** Commands can neither read nor change a subtree that a rule denies. */
  readonly deniedSubtrees: GuaranteeLevel
  /** Rules that only the file API can check (predicates, write-only subtrees) also apply to commands. */
  readonly apiRules: GuaranteeLevel
}

export type GuaranteeField = keyof Guarantees

/**
 * The lowest accepted level of each named field, or a preset. `untrusted` is for unreviewed code, and requires a kernel boundary and
 * no `checked` mount. `untrusted-by-name` also accepts listed hosts, which can pass data on.
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

import type { Owner } from '@ws/core/adapter'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A tool directory for commands: an entry of `tools` in a config file. */
export interface SuggestedTool {
  readonly manager: string
  readonly host: string
  /** False if the commands' user cannot reach or read the directory. */
  readonly reachable: boolean
}

interface Manager {
  readonly name: string
  /** The environment variable that names the manager's directory, and the default directory below home. */
  readonly variable: string
  readonly below: string
  /** Path segments from the manager's directory to a directory with `bin`. `*` is any name, newest version first. */
  readonly parts: readonly string[]
}

const managers: readonly Manager[] = [
  { name: 'pyenv', variable: 'PYENV_ROOT', below: '.pyenv', parts: ['versions', '*'] },
  // Listed before cargo, whose proxies only start a toolchain.
  { name: 'rustup', variable: 'RUSTUP_HOME', below: '.rustup', parts: ['toolchains', '*'] },
  { name: 'cargo', variable: 'CARGO_HOME', below: '.cargo', parts: [] },
  { name: 'nvm', variable: 'NVM_DIR', below: '.nvm', parts: ['versions', 'node', '*'] },
  { name: 'fnm', variable: 'FNM_DIR', below: '.local/share/fnm', parts: ['node-versions', '*', 'installation'] },
  { name: 'volta', variable: 'VOLTA_HOME', below: '.volta', parts: ['tools', 'image', 'node', '*'] },
  { name: 'asdf', variable: 'ASDF_DATA_DIR', below: '.asdf', parts: ['installs', '*', '*'] },
]

/** Tools that version managers have installed for the current user. Tests whether `owner` can use these tools. */
export function suggestTools(env: NodeJS.ProcessEnv, owner: Owner): SuggestedTool[] {
  const { HOME } = env
  return managers.flatMap(({ name, variable, below, parts }) => {
    const base = env[variable] ?? (HOME === undefined || HOME === '' ? undefined : join(HOME, below))
    if (base === undefined || !base.startsWith('/')) return []
    const host = newest(base, parts)
    return host === undefined ? [] : [{ manager: name, host, reachable: isReachable(host, owner) }]
  })
}

/** True if the user can enter every directory on the path, and read the last directory. */
function isReachable(path: string, { uid, gid }: Owner): boolean {
  const mayEnter = (directory: string, needed: number): boolean => {
    const stat = statSync(directory, { throwIfNoEntry: false })
    if (stat === undefined) return false
    const shift = stat.uid === uid ? 6 : stat.gid === gid ? 3 : 0
    return ((stat.mode >> shift) & needed) === needed
  }
  if (!mayEnter(path, 0o5)) return false
  for (let above = dirname(path); above !== '/'; above = dirname(above)) if (!mayEnter(above, 0o1)) return false
  return true
}

function newest(base: string, [part, ...rest]: readonly string[]): string | undefined {
  if (part === undefined) return existsSync(join(base, 'bin')) ? base : undefined
  if (part !== '*') return newest(join(base, part), rest)
  for (const name of namesIn(base).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))) {
    const found = newest(join(base, name), rest)
    if (found !== undefined) return found
  }
  return undefined
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // a directory that cannot be listed contributes no tools
  }
}

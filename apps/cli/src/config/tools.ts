import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** A directory of this machine that commands could be shown: an entry of `tools` in a config file. */
export interface SuggestedTool {
  /** The version manager's name. */
  readonly manager: string
  readonly host: string
}

interface Manager {
  readonly name: string
  /** The variable that names its directory, and where that is without. */
  readonly variable: string
  readonly below: string
  /** From there to a directory with a `bin`; `*` is any name, the newest version first. */
  readonly parts: readonly string[]
}

const managers: readonly Manager[] = [
  { name: 'pyenv', variable: 'PYENV_ROOT', below: '.pyenv', parts: ['versions', '*'] },
  { name: 'cargo', variable: 'CARGO_HOME', below: '.cargo', parts: [] },
  { name: 'rustup', variable: 'RUSTUP_HOME', below: '.rustup', parts: ['toolchains', '*'] },
  { name: 'nvm', variable: 'NVM_DIR', below: '.nvm', parts: ['versions', 'node', '*'] },
  { name: 'fnm', variable: 'FNM_DIR', below: '.local/share/fnm', parts: ['node-versions', '*', 'installation'] },
  { name: 'volta', variable: 'VOLTA_HOME', below: '.volta', parts: ['tools', 'image', 'node', '*'] },
  { name: 'asdf', variable: 'ASDF_DATA_DIR', below: '.asdf', parts: ['installs', '*', '*'] },
]

/** What version managers have installed for the user who asks. */
export function suggestTools(env: NodeJS.ProcessEnv): SuggestedTool[] {
  const { HOME } = env
  return managers.flatMap(({ name, variable, below, parts }) => {
    const base = env[variable] ?? (HOME === undefined || HOME === '' ? undefined : join(HOME, below))
    if (base === undefined || !base.startsWith('/')) return []
    const host = newest(base, parts)
    return host === undefined ? [] : [{ manager: name, host }]
  })
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
    return []
  }
}

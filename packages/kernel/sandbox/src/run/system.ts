import { existsSync } from 'node:fs'

/** Returns how to install packages on this system. @param debian the names of Debian's packages */
export function howToInstall(...debian: string[]): string {
  const names = debian.join(' ')
  if (process.platform === 'darwin') return `brew install ${names}`
  return existsSync('/usr/bin/apt-get') ? `apt-get install ${names}` : `install ${debian.join(' and ')}`
}

const names: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' }

/** Ways to run real programs, by system. */
const remedies: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'use `@ws/executor-sandbox-runtime`, or run in a Linux container',
  win32: 'run in WSL 2 or in a Linux container, or use `@ws/executor-virtual`',
}

/** Returns why an executor cannot run on this system; `undefined` without `systems`, or if it can. */
export function systemProblem(
  systems: readonly NodeJS.Platform[] | undefined,
): { readonly reason: string; readonly remedy: string } | undefined {
  if (systems === undefined || systems.includes(process.platform)) return undefined
  const reason = `it runs on ${systems.map((system) => names[system] ?? system).join(' and ')} only`
  return { reason, remedy: remedies[process.platform] ?? 'use an executor over the file API (`@ws/executor-virtual`)' }
}

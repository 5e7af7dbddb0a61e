import { accessSync, constants } from 'node:fs'

/** PATH of commands: system directories only. */
export const systemPath = '/usr/local/bin:/usr/bin:/bin'

/** Returns whether a program is in the PATH of commands. */
export function isInstalled(name: string): boolean {
  return systemPath.split(':').some((directory) => {
    try {
      accessSync(`${directory}/${name}`, constants.X_OK)
      return true
    } catch {
      return false // missing
    }
  })
}

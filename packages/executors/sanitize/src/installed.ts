import { accessSync, constants } from 'node:fs'

/** PATH of commands: the system's own directories alone. */
export const systemPath = '/usr/local/bin:/usr/bin:/bin'

/** True when a program of that name is found on the PATH of commands. */
export function isInstalled(name: string): boolean {
  return systemPath.split(':').some((directory) => {
    try {
      accessSync(`${directory}/${name}`, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * Installs Node releases from the registry, except the running release. @param versions in npm's form: `26`, `22.18`
 * @returns the absolute path of each version's program
 */
export async function installNodes(versions: readonly string[], directory: string): Promise<Map<string, string>> {
  const programs = new Map<string, string>()
  const platform = `node-${process.platform}-${process.arch}`
  for (const version of versions) {
    const place = join(directory, `node-${version}`)
    const own = version === process.versions.node
    if (!own) {
      await mkdir(place)
      const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
      await promisify(execFile)('npm', [...args, `${platform}@${version}`], { cwd: place })
    }
    programs.set(version, own ? process.execPath : join(place, 'node_modules', platform, 'bin/node'))
  }
  return programs
}

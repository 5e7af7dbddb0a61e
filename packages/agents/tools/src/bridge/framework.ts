import { createRequire } from 'node:module'

import { WorkspaceError } from '@ws/core'

export interface Framework {
  readonly name: string
  /** The first supported version. Later versions with the same major number work too; below 1.0.0, with the same minor number. */
  readonly from: string
  /** The installed version. Default: found from {@link Framework.importer}. A bundled framework has no version to find, and passes. */
  readonly version?: string | undefined
  readonly importer: string
}

/** Checks the installed version of a framework. @throws WorkspaceError `ENOTSUP` with the versions that work */
export function checkFramework(bridge: string, { name, from, importer, version }: Framework): void {
  const installed = version ?? installedVersion(name, importer)
  if (installed === undefined || isSupported(installed, from)) return
  throw new WorkspaceError({
    code: 'ENOTSUP',
    operation: bridge,
    reason: `version ${installed} of \`${name}\` is not supported`,
    remedy: `install version ^${from} of it`,
  })
}

function installedVersion(name: string, importer: string): string | undefined {
  const require = createRequire(importer)
  return versionIn(() => require(`${name}/package.json`)) ?? versionIn(() => require(besideEntry(require, name)))
}

function versionIn(load: () => unknown): string | undefined {
  try {
    const found = load()
    return typeof found === 'object' && found !== null && 'version' in found ? String(found.version) : undefined
  } catch {
    return undefined
  }
}

/** Finds `package.json` above the entry of a package: some packages do not export that file. */
function besideEntry(require: NodeJS.Require, name: string): string {
  const entry = require.resolve(name)
  const folder = `/node_modules/${name}/`
  return `${entry.slice(0, entry.lastIndexOf(folder) + folder.length)}package.json`
}

function isSupported(version: string, from: string): boolean {
  const given = partsOf(version)
  const least = partsOf(from)
  const fixed = least[0] === 0 ? 2 : 1
  for (const [index, part] of least.entries()) {
    const difference = (given[index] ?? 0) - part
    if (difference === 0) continue
    return difference > 0 && index >= fixed
  }
  return !version.includes('-')
}

function partsOf(version: string): number[] {
  return (/^\d+\.\d+\.\d+/u.exec(version)?.[0] ?? '0.0.0').split('.').map(Number)
}

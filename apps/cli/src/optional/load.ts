import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { MissingPackagesError, type OptionalName, type OptionalPackages, packageOf } from './packages.ts'

const own = resolve(fileURLToPath(new URL('../..', import.meta.url)))

/**
 * Loads an optional package from two directories only: the `node_modules` around this package, and this package's own.
 * A plain import would search up to `/`, where an agent can create a package. @throws MissingPackagesError
 */
export async function loadOptional<Name extends OptionalName>(name: Name): Promise<OptionalPackages[Name]> {
  const entry = findEntry(name)
  if (entry === undefined) throw new MissingPackagesError([name])
  return (await import(pathToFileURL(entry).href)) as OptionalPackages[Name]
}

/** @throws MissingPackagesError with all missing packages */
export function checkInstalled(names: readonly OptionalName[]): void {
  const missing = [...new Set(names)].filter((name) => !isInstalled(name))
  if (missing.length > 0) throw new MissingPackagesError(missing)
}

export const isInstalled = (name: OptionalName): boolean => findEntry(name) !== undefined

function findEntry(name: OptionalName): string | undefined {
  for (const place of places()) {
    const entry = entryIn(join(place, packageOf(name)), name)
    if (entry !== undefined) return entry
  }
  return undefined
}

/** The directories that may contain optional packages, beside this package's path and its real path. */
function places(): string[] {
  return [...new Set([own, realpathSync(own)])].flatMap((folder) => {
    const parent = dirname(folder)
    const above = basename(parent).startsWith('@') ? dirname(parent) : parent
    return [join(folder, 'node_modules'), ...(basename(above) === 'node_modules' ? [above] : [])]
  })
}

/** Resolves a package's entry, or a door, from the package's folder: Node resolves a package's own name first. */
function entryIn(folder: string, name: string): string | undefined {
  try {
    const entry = createRequire(join(folder, 'package.json')).resolve(name)
    // For a package that is missing here, Node searches parent directories and NODE_PATH.
    return [folder, realpathSync(folder)].some((inside) => entry.startsWith(inside + sep)) ? entry : undefined
  } catch {
    // a package that does not resolve, or that has no such entry, counts as missing
    return undefined
  }
}

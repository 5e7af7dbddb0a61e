import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'

import { MissingPackagesError, type OptionalName, type OptionalPackages } from './packages.ts'

const own = dirname(dirname(import.meta.dirname))

/**
 * Loads an optional package that is installed beside this one.
 *
 * A plain import would look in every `node_modules` on the way up to `/`. An agent can plant a package in its workspace. So this function looks in two directories only: the `node_modules` that holds this package, and its own.
 *
 * @throws MissingPackagesError
 */
export async function loadOptional<Name extends OptionalName>(name: Name): Promise<OptionalPackages[Name]> {
  const entry = findEntry(name)
  if (entry === undefined) throw new MissingPackagesError([name])
  return (await import(pathToFileURL(entry).href)) as OptionalPackages[Name]
}

/** @throws MissingPackagesError with all those that are missing */
export function checkInstalled(names: readonly OptionalName[]): void {
  const missing = [...new Set(names)].filter((name) => !isInstalled(name))
  if (missing.length > 0) throw new MissingPackagesError(missing)
}

export const isInstalled = (name: OptionalName): boolean => findEntry(name) !== undefined

function findEntry(name: OptionalName): string | undefined {
  for (const place of places()) {
    const entry = entryIn(join(place, name), name)
    if (entry !== undefined) return entry
  }
  return undefined
}

/** The directories beside this package: as it was loaded, and where its links lead. */
function places(): string[] {
  return [...new Set([own, realpathSync(own)])].flatMap((folder) => {
    const parent = dirname(folder)
    const above = basename(parent).startsWith('@') ? dirname(parent) : parent
    return [join(folder, 'node_modules'), ...(basename(above) === 'node_modules' ? [above] : [])]
  })
}

/** The entry of the package in a folder. A package finds itself by its name, before Node looks anywhere else. */
function entryIn(folder: string, name: string): string | undefined {
  try {
    const entry = createRequire(join(folder, 'package.json')).resolve(name)
    // Where the folder holds another package or none, Node has looked in the directories above it and in NODE_PATH.
    return [folder, realpathSync(folder)].some((inside) => entry.startsWith(inside + sep)) ? entry : undefined
  } catch {
    // a package that Node cannot find, and one without this entry, count as missing
    return undefined
  }
}

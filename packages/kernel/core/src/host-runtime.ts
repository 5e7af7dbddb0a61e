const others = { bun: 'Bun', deno: 'Deno' } as const

/**
 * The name and version of this runtime, where it is not Node. Others accept the same calls for starting a process and
 * carry them out differently: descriptors are not handed on, or an end is never reported.
 *
 * @param versions of the runtime and its parts; default: `process.versions`
 */
export function unsupportedRuntime(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): string | undefined {
  for (const [key, name] of Object.entries(others)) if (versions[key] !== undefined) return `${name} ${versions[key]}`
  return undefined
}

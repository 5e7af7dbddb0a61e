const others = { bun: 'Bun', deno: 'Deno' } as const

/**
 * Returns the name and version of a runtime other than Node. Such runtimes implement process calls differently:
 * they do not pass descriptors on, or never report the end of a process.
 */
export function unsupportedRuntime(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): string | undefined {
  for (const [key, name] of Object.entries(others)) if (versions[key] !== undefined) return `${name} ${versions[key]}`
  return undefined
}

const others = { bun: 'Bun', deno: 'Deno' } as const

/**
 * The name and version of a runtime other than Node. Such runtimes carry out process calls differently:
 * they do not hand descriptors on, or never report an end.
 */
export function unsupportedRuntime(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): string | undefined {
  for (const [key, name] of Object.entries(others)) if (versions[key] !== undefined) return `${name} ${versions[key]}`
  return undefined
}

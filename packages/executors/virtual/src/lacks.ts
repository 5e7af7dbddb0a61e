/** Missing programs that agents often call. */
export const missingPrograms = [
  'git',
  'python3',
  'node',
  'npm',
  'pip',
  'make',
  'curl',
  'rg',
  'tree',
  'file',
  'du',
] as const

/**
 * A sentence for models about missing programs. A test compares this list with the worker's tables, which load slowly.
 * @param has the programs that options add
 */
export function lacksOf(has: { readonly curl: boolean; readonly python3: boolean }): string {
  const missing = missingPrograms.filter((name) => !(name in has && has[name as keyof typeof has]))
  const programs = `The shell has no ${missing.join(', ')} or other installed program`
  const python = has.python3
    ? ' Its python3 has the standard library alone, without pip, threads, sockets or other programs.'
    : ''
  return has.curl
    ? `${programs}. Its only network is \`curl\`, which downloads from listed hosts.${python}`
    : `${programs}, and no network.${python}`
}

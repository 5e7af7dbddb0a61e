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

/** A sentence for models about missing programs. A test compares this list with the worker's tables, which load slowly. */
export function lacksOf(hasCurl: boolean): string {
  const missing = missingPrograms.filter((name) => name !== 'curl' || !hasCurl)
  const programs = `The shell has no ${missing.join(', ')} or other installed program`
  return hasCurl
    ? `${programs}. Its only network is \`curl\`, which downloads from listed hosts.`
    : `${programs}, and no network.`
}

import type { ToolResult } from '@ws/shell-tools'

import type { Call } from '../call.ts'

/** Command words that only a shell can run. */
const shellOnly = new Set(
  'alias bg bind break builtin caller cd command compgen complete continue declare dirs disown enable eval exec exit export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly return set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait . :'.split(
    ' ',
  ),
)

/**
 * Runs a program for `xargs` or `find -exec`, without a shell. @param variables default: the exported variables
 * @param check false if the caller itself checks whether the script must end
 */
export async function runProgram(
  call: Call,
  words: readonly string[],
  stdin = '',
  { variables, check = true }: { readonly variables?: Readonly<Record<string, string>>; readonly check?: boolean } = {},
): Promise<ToolResult> {
  const { context, host } = call
  host.check()
  const [program = '', ...given] = words
  if (shellOnly.has(program) || program === '') return notFound(call, program)
  if (context.exec === undefined) throw new Error('there is no interpreter to run it in')
  host.begins = { exported: Object.keys(variables ?? context.exportedEnv ?? {}) }
  const quoted = `'${program.replaceAll("'", "'\\''")}'`
  const result = await context.exec(quoted, {
    cwd: context.cwd,
    args: [...given],
    env: startingWith(variables ?? context.exportedEnv),
    replaceEnv: true,
    stdin,
    stdinKind: 'bytes',
    ...(context.signal === undefined ? {} : { signal: context.signal }),
  })
  if (check) host.check()
  if (result.exitCode === 127 && result.stderr === `bash: ${program}: command not found\n`)
    return notFound(call, program)
  return result
}

export function startingWith(variables: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: '/usr/bin:/bin',
    IFS: ' \t\n',
    OPTIND: '1',
    OSTYPE: 'linux-gnu',
    MACHTYPE: 'x86_64-pc-linux-gnu',
    HOSTTYPE: 'x86_64',
    ...variables,
  }
}

function notFound({ name, host }: Call, program: string): ToolResult {
  host.missing ??= program
  return { stdout: '', stderr: `${name}: '${program}': No such file or directory\n`, exitCode: 127 }
}

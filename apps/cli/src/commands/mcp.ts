import type { Served } from '@ws/mcp-server'
import { faceNames, type FaceName } from '@ws/tools/face-names'
import { InvalidArgumentError, Option, type Command } from 'commander'

import { neededBy } from '../config/needed.ts'
import type { CommandContext, Start } from '../command-context.ts'
import { missingRules } from '../config/protection.ts'
import { UsageError } from '../errors.ts'
import { exitCodes } from '../exit-codes.ts'
import { checkInstalled, loadOptional } from '../optional/load.ts'
import { openWithCheckpoints, stateFlag } from './checkpoints.ts'

interface Flags {
  readonly face: FaceName
  readonly shell: 'command' | 'session'
  readonly skills?: string
  readonly http?: number
  readonly protect: boolean
  readonly downloads: boolean
  readonly approve?: true
  readonly state?: string
}

/** The environment variable with the token for `--http`. Other users can see command lines, so no option has the token. */
const tokenVariable = 'WS_MCP_TOKEN'

export function addMcp(program: Command, start: Start): void {
  program
    .command('mcp')
    .summary('serve the workspace to MCP clients')
    .description(
      'Serves tools, files and skills over standard input and output, until the client closes them. Commands are offered ' +
        'with --require only, and only if the executor meets it. Secrets are denied, and git hooks and the like are read-only.',
    )
    .addOption(new Option('--face <face>', 'the form of the tools').choices(faceNames).default('split'))
    .addOption(
      new Option('--shell <shell>', '`session`: keep directory and variables between commands')
        .choices(['command', 'session'])
        .default('command'),
    )
    .option('--no-downloads', 'leave out the tool `download`, which needs a list of hosts, or a network of commands')
    .option('--skills <path>', 'a directory of the workspace with a folder for each skill')
    .option('--approve', 'let the client ask its user which changes of a call to keep')
    .option(...stateFlag)
    .option('--no-protect', 'leave secrets and git hooks unprotected')
    .option(
      '--http <port>',
      `serve http://127.0.0.1:PORT/mcp instead (0: a free port); with ${tokenVariable} set, only with that bearer token`,
      parsePort,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ ws --root . mcp\n  $ ws --root . --require untrusted mcp --face claude-code\n  $ ws --root . mcp --http 8765',
    )
    .action((flags: Flags) => {
      start((context) => run(context, flags))
    })
}

async function run(
  context: CommandContext,
  { face, shell, skills, http, downloads, protect, approve, state }: Flags,
): Promise<number> {
  const { open, settings, signal } = context
  const commands = settings.require
  const { mounts, executors } = settings
  checkInstalled(['@ws/mcp-server', ...neededBy({ mounts, executors: commands === undefined ? [] : executors })])
  const { findSkills, fixedTokens, serveHttp, serveStdio } = await loadOptional('@ws/mcp-server')
  const parts = { executors: commands !== undefined, rules: protect ? missingRules(settings) : [] }
  await using workspace = await (approve === true ? openWithCheckpoints(context, { state }, parts) : open(parts))
  const listSkills = skills === undefined ? undefined : () => findSkills(workspace, skills)
  const opened = { workspace, listSkills }
  const options = {
    tools: { face, shell, downloads: downloads && settings.downloads },
    commands,
    approve: approve === true,
  }
  if (http === undefined) {
    if (process.stdin.isTTY) {
      process.stderr.write(
        'ws: waiting for an MCP client on standard input; Ctrl-C ends it\n    Clients start this command themselves: see their configuration files.\n',
      )
    }
    await using server = await serveStdio(opened, options)
    await ended(server, signal, server.closed)
    return exitCodes.ok
  }
  const token = process.env[tokenVariable]
  if (token === '') throw new UsageError(`${tokenVariable} is empty; give a token, or unset it`)
  await using server = await serveHttp({
    ...options,
    port: http,
    open: async () => ({ ...opened, close: async () => undefined }),
    ...(token !== undefined && { auth: { verify: fixedTokens({ [token]: 'local' }) } }),
  })
  process.stderr.write(`ws: serving ${server.url.href}\n`)
  await ended(server, signal)
  return exitCodes.ok
}

/** Waits until the client disconnects, or until Ctrl-C, which has its own exit code. */
async function ended(server: Served, signal: AbortSignal, closed?: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (signal.aborted) resolve()
  await Promise.race([promise, ...(closed === undefined ? [] : [closed])])
  await server.close()
  signal.throwIfAborted()
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/u.test(text) || port > 65_535) throw new InvalidArgumentError('Give a port from 0 to 65535.')
  return port
}

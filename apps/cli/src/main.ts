import { createRequire } from 'node:module'

import { Command, CommanderError } from 'commander'

import { addCheckpoints } from './commands/checkpoints.ts'
import { addDoctor } from './commands/doctor/index.ts'
import { addExec } from './commands/exec.ts'
import { addPublish } from './commands/publish.ts'
import { addFork } from './commands/fork.ts'
import { addExplain } from './commands/explain.ts'
import { addFileCommand } from './commands/files/add.ts'
import { fileCommands } from './commands/files/table.ts'
import { addInit } from './commands/init/index.ts'
import { addKill } from './commands/kill.ts'
import { addMcp } from './commands/mcp.ts'
import { collect } from './commands/options.ts'
import { addPs } from './commands/ps.ts'
import { addRun } from './commands/run.ts'
import { addSession } from './commands/session.ts'
import { addThread } from './commands/thread/index.ts'
import { addTool } from './commands/tool.ts'
import { addTry } from './commands/try.ts'
import { addTrust } from './commands/trust.ts'
import { addVerify } from './commands/verify.ts'
import { findWorkspace, passedOver, trustedConfigOf, type FoundWorkspace } from './config/find.ts'
import { resolveSettings, type GlobalOptions, type Settings } from './config/settings.ts'
import type { CommandContext, Start } from './command-context.ts'
import { describeError, Interruption, UsageError, type ErrorReport } from './errors.ts'
import { exitCodes, exitCodesHelp } from './exit-codes.ts'
import { openWorkspace } from './open.ts'
import type { Called } from './optional/packages.ts'
import { escapeJson } from './terminal/escape.ts'
import { isClosed } from './terminal/input.ts'
import { createOutput } from './terminal/output.ts'
import { createStyle } from './terminal/style.ts'
import { complainTo, screenWidth } from './terminal/wrap.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** Commands that only print. With a closed standard output, they do nothing. */
const printing: ReadonlySet<string> = new Set([
  'ls',
  'tree',
  'glob',
  'ps',
  'cat',
  'stat',
  'search',
  'changes',
  'diff',
  'explain',
  'doctor',
  'verify',
  'thread list',
  'thread ls',
  'thread status',
  'thread skills',
  'thread export',
])

/** Runs `ws` with these arguments, and resolves to its exit code. Never rejects: a failure is one line on stderr. */
export async function main(argv: readonly string[]): Promise<number> {
  const separator = argv.indexOf('--')
  const json = argv.slice(0, separator === -1 ? undefined : separator).includes('--json')
  const named: { -readonly [Key in keyof Called]: Called[Key] } = { command: '', options: {} }
  const complain = (error: unknown): ErrorReport => {
    const report = describeError(error, named)
    if (report.line !== undefined) {
      if (json) process.stderr.write(`${escapeJson(JSON.stringify(report.json))}\n`)
      else complainTo(process.stderr, report.line)
    }
    return report
  }
  // a closed standard error loses messages silently
  process.stderr.on('error', () => undefined)
  try {
    return await run(argv, json, complain, named)
  } catch (error) {
    return complain(error).exitCode
  }
}

async function run(
  argv: readonly string[],
  json: boolean,
  complain: CommandContext['complain'],
  named: { -readonly [Key in keyof Called]: Called[Key] },
): Promise<number> {
  let work: Parameters<Start>[0] | undefined
  const program = createProgram((given) => {
    work = given
  })
  program.hook('preAction', (_program, action) => {
    named.command = nameOf(action, program)
    named.options = program.opts<GlobalOptions>()
  })
  try {
    program.parse(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return exitCodes.ok
    throw new UsageError(usageMessage(error, argv))
  }
  if (work === undefined) throw new UsageError('no command is named; see ws --help')
  if (printing.has(named.command) && isClosed(1)) throw new UsageError('standard output is closed; direct it somewhere')

  const { isTTY, columns } = process.stdout
  if (wide.has(named.command) && isTTY && columns > 0 && columns < narrow) {
    complainTo(process.stderr, `this terminal has ${columns} columns, and tables need ${narrow}; make it wider`)
  }
  const options = program.opts<GlobalOptions>()
  // programs that use the library also mount the tree of a thread at `/`
  const place = named.command.startsWith('thread ') ? '/' : undefined
  const resolved = await resolveSettings(options, foundFor(named.command, options), place)
  const settings = single.has(named.command) ? forOneCommand(resolved) : resolved
  const controller = new AbortController()
  const { signal } = controller
  const output = createOutput(process.stdout, { json, onFailure: (reason) => controller.abort(reason) })
  const interrupt = (name: NodeJS.Signals) => {
    if (signal.aborted) process.exit(new Interruption(name).exitCode) // second interruption: exit without further cleanup
    controller.abort(new Interruption(name))
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt)
  return await work({
    settings,
    output,
    style: createStyle(process.stdout),
    signal,
    complain,
    open: ({ executors = false, readOnly, checkpoints, rules = [], mounts = [] } = {}) => {
      const chosen = executors === true ? settings.executors : executors === false ? undefined : executors
      const all = { mounts: [...settings.mounts, ...mounts], rules: [...settings.rules, ...rules] }
      return openWorkspace({ ...settings, ...all }, { signal, executors: chosen, readOnly, checkpoints })
    },
  })
}

/** Commands of `ws` that run one command. They make nothing for later commands: no sandboxes, and no shared loopback. */
const single: ReadonlySet<string> = new Set(['exec', 'thread exec', 'tool'])

function forOneCommand({ executorOptions, ...settings }: Settings): Settings {
  const given = executorOptions.bubblewrap ?? {}
  const loopback = given.network === 'host' ? undefined : ('command' as const)
  const bubblewrap = { ...given, warm: false, loopback }
  return { ...settings, executorOptions: { ...executorOptions, bubblewrap } }
}

/** Commands with tables, which need a wide terminal. */
const wide: ReadonlySet<string> = new Set(['doctor', 'verify', 'explain', 'stat'])
const narrow = 60

/** Commands that search for no workspace: these create a workspace, need none, or take its name as an argument. */
const placeless: ReadonlySet<string> = new Set(['ps', 'kill', 'init', 'trust', 'run', 'verify'])

/** The working directory's workspace if no option names another; for --root, the root's config file. `doctor` needs no workspace. */
function foundFor(command: string, { root, s3, rclone, config, json }: GlobalOptions): FoundWorkspace {
  const isNamed = [s3, rclone, config].some((option) => option !== undefined)
  if (isNamed || placeless.has(command) || command.startsWith('thread ')) return {}
  if (root !== undefined) {
    const trusted = trustedConfigOf(root)
    const warning = trusted === undefined ? passedOver(root) : undefined
    if (warning !== undefined && json) process.stderr.write(`${escapeJson(JSON.stringify({ warning }))}\n`)
    else if (warning !== undefined) complainTo(process.stderr, warning)
    return { config: trusted }
  }
  const found = findWorkspace()
  return command === 'doctor' && found.config === undefined ? {} : found
}

/** The name of a command with its parents: `thread open`. */
function nameOf(command: Command, program: Command): string {
  const above = command.parent
  return above === null || above === program ? command.name() : `${nameOf(above, program)} ${command.name()}`
}

function createProgram(start: Start): Command {
  const program = new Command('ws')
    .description('One workspace, two doors: files and commands see the same tree at the same paths, under one policy.')
    .version(version, '-V, --version', 'print the version')
    .exitOverride()
    .configureHelp({ subcommandTerm: termOf })
    .configureOutput({ writeErr: () => undefined, getOutHelpWidth: () => Math.min(screenWidth(process.stdout), 100) })
    .showSuggestionAfterError(true)
    .option('--root <dir>', 'the directory (default: see "The workspace")')
    .option('--s3 <bucket[/prefix]>', 'or a bucket of S3 or R2')
    .option('--rclone <bucket[/prefix]>', 'or the same, mounted by rclone')
    .option('--replica <dir>', 'a copy of --s3 on this machine, for programs')
    .option('--s3-endpoint <url>', 'the store, if it is not AWS')
    .option('--s3-region <region>', 'its region (default: AWS_REGION)')
    .option('--at <path>', 'its place: /workspace (default), or / (macOS: its own path)')
    .option('--owner <uid[:gid]>', 'the user that commands run as')
    .option('--config <file>', 'mounts, rules and more; see ws init')
    .option('--executor <name>', 'bubblewrap, container, proot, sandbox-runtime, sanitize or virtual')
    .option('--require <field=level>', 'refuse what holds less; or `untrusted`, `untrusted-by-name`', collect)
    .option('--allow-host <host>', 'let commands reach it, by name; repeatable', collect)
    .option('--json', 'print JSON, also for errors')
    .helpCommand('help [command]', 'show its options and examples')
    .addHelpText(
      'after',
      `
The workspace: without --root, --s3, --rclone and --config, ws takes the nearest
ws.config.json from the working directory on, if you trust it (ws init,
ws trust). Without one, the workspace is the working directory. With --root,
the ws.config.json of that directory counts if you trust it.

Examples:
  $ ws --root ~/project exec -- 'ls -la /'
  $ ws --root ~/project --at /workspace exec -- npm test
  $ ws --root ~/project --require untrusted exec -- ./build.sh
  $ ws --s3 bucket/threads/t1 exec -- 'grep -r TODO /src | wc -l'
  $ ws --s3 bucket/threads/t1 --replica ~/copy exec -- 'npm install'
  $ ws --config ws.config.json explain write /src/a.ts
${exitCodesHelp}`,
    )
  program.commandsGroup('Commands:')
  for (const add of [addExec, addSession, addPublish, addPs, addKill]) add(program, start)
  program.commandsGroup('Files:')
  for (const command of fileCommands) addFileCommand(program, start, command)
  program.commandsGroup('Undo:')
  for (const add of [addTry, addCheckpoints, addFork]) add(program, start)
  program.commandsGroup('Agents:')
  for (const add of [addTool, addMcp, addRun, addThread]) add(program, start)
  program.commandsGroup('Set up and check:')
  for (const add of [addInit, addTrust, addDoctor, addExplain, addVerify]) add(program, start)
  for (const command of program.commands) command.addHelpText('after', '\nGlobal options and exit codes: ws --help')
  return program
}

function termOf(command: Command): string {
  const given = command.registeredArguments.map((argument) => {
    const dots = argument.variadic ? '...' : ''
    return argument.required ? `<${argument.name()}${dots}>` : `[${argument.name()}${dots}]`
  })
  return [command.name(), ...given].join(' ')
}

/** Commander's message on one line, without commander's prefix but with a hint. */
function usageMessage({ code, message }: CommanderError, argv: readonly string[]): string {
  const text = message
    .replace(/^error: /u, '')
    .replaceAll(/\s*\n\s*/gu, ' ')
    .trim()
  if (text === '(outputHelp)' || text === '') return 'no command is named; see ws --help'
  const runs = argv.find((word) => word === 'exec' || word === 'session')
  if (code === 'commander.unknownOption' && runs !== undefined && !argv.includes('--') && !text.includes('Did you')) {
    return `${text}; put the command behind \`--\`, as in: ws ${runs} -- ls -la`
  }
  return `${text.replace(/\.$/u, '')}; see ws --help`
}

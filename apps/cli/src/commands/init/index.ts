import { dirname, relative, resolve } from 'node:path'

import { quotePath, rules } from '@ws/core'
import { isPreset } from '@ws/core/executor'
import type { Command } from 'commander'

import type { CommandContext, Start } from '../../command-context.ts'
import { configName } from '../../config/find.ts'
import type { Config, RuleConfig } from '../../config/schema.ts'
import { defaultExecutorNames } from '../../config/executors.ts'
import { defaultPlace } from '../../config/mounts.ts'
import { hashOf, trust } from '../../config/trusted.ts'
import { isDirectory, isThere, writeConfig } from '../../config/write.ts'
import { UsageError } from '../../errors.ts'
import { exitCodes } from '../../exit-codes.ts'
import { complainTo } from '../../terminal/wrap.ts'
import { usageOf } from '../../usage.ts'
import { collect } from '../options.ts'
import { askChoices, terminalAsk, type Choices } from './questions.ts'

interface InitFlags {
  readonly file: string
  readonly deny?: readonly string[]
  readonly readOnly?: readonly string[]
  readonly output?: string
  readonly protect: boolean
  readonly force?: true
  readonly yes?: true
}

export function addInit(program: Command, start: Start): void {
  program
    .command('init')
    .summary('write a config file')
    .description(
      `Writes ${configName} for a directory, and trusts it: ws then finds it there and below. On a terminal it asks; with --yes, ` +
        'or without a terminal, it takes the options and the defaults. --root, --at, --owner, --executor, --require and --allow-host are kept too.',
    )
    .option('--file <file>', 'the file to write', configName)
    .option('--deny <path>', 'a path that neither files nor commands may read; repeatable', collect)
    .option('--read-only <path>', 'a path that stays as it is; repeatable', collect)
    .option('--output <path>', 'the only directory that may be written')
    .option('--no-protect', 'leave secrets and git hooks unprotected')
    .option('--force', 'replace a file that is there')
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      '\nExamples:\n  $ ws init\n  $ ws init --yes --deny private --output out\n  $ ws --root project --require untrusted init --yes',
    )
    .action((flags: InitFlags) => {
      start((context) => init(context, flags))
    })
}

async function init(context: CommandContext, flags: InitFlags): Promise<number> {
  const { output } = context
  const file = resolve(flags.file)
  const shown = quotePath(flags.file)
  if (flags.file === '' || flags.file.includes('\0')) throw new UsageError(`--file: ${shown} cannot be a file name`)
  if (flags.force !== true && isThere(file)) {
    throw new UsageError(`${shown} is there already; give --force to replace it, or --file for another name`)
  }
  const config = configOf(context, flags, await choicesOf(context, flags), file)
  const text = `${JSON.stringify(config, undefined, 2)}\n`
  writeConfig(file, shown, text)
  const isTrusted = tryTrust(file, text)
  if (output.json) await output.value({ file, trusted: isTrusted, config })
  else {
    const next = isTrusted ? 'Try: ws doctor, then ws exec -- ls' : 'Make ws trust it: `ws trust` and its name'
    await output.line(`${shown} is written. ${next}`)
  }
  return exitCodes.ok
}

async function choicesOf({ settings, signal }: CommandContext, flags: InitFlags): Promise<Choices> {
  const storage = settings.mounts[0]?.storage
  if (storage !== undefined && storage.kind !== 'local') {
    throw new UsageError(
      'init writes a config file for a directory; docs/cli.md of the repository has one for a bucket',
    )
  }
  const given: Choices = {
    root: storage?.shown ?? '.',
    at: settings.mounts[0]?.at ?? defaultPlace,
    protect: flags.protect,
    untrusted: settings.require === 'untrusted',
  }
  if (!isDirectory(given.root)) throw new UsageError(`--root: ${quotePath(given.root)} is not a directory`)
  if (flags.yes || !process.stdin.isTTY || !process.stderr.isTTY) return given
  using terminal = terminalAsk(signal)
  return await askChoices(terminal.ask, (text) => complainTo(process.stderr, text), given, isDirectory)
}

function configOf({ settings }: CommandContext, flags: InitFlags, choices: Choices, file: string): Config {
  const { owner, executors } = settings
  const network = settings.executorOptions.bubblewrap?.network
  const allow = typeof network === 'object' ? network.allow : undefined
  const root = relative(dirname(file), resolve(choices.root)) || '.'
  const own = relative(resolve(choices.root), file)
  const require = choices.untrusted ? ('untrusted' as const) : settings.require
  const all: readonly RuleConfig[] = [
    ...(choices.protect ? [{ rule: 'protectSecrets' } as const, { rule: 'protectHooks' } as const] : []),
    // a command must not change the rules for the next command
    ...(own.startsWith('../') ? [] : [{ rule: 'readOnly', path: own } as const]),
    ...(flags.deny ?? []).map((path) => checked(choices.at, '--deny', { rule: 'deny', path })),
    ...(flags.readOnly ?? []).map((path) => checked(choices.at, '--read-only', { rule: 'readOnly', path })),
    ...(flags.output === undefined
      ? []
      : [checked(choices.at, '--output', { rule: 'withinOutput', path: flags.output })]),
  ]
  return {
    mounts: [{ at: choices.at, root }],
    ...(owner !== undefined && { owner }),
    rules: [...all],
    ...(executors !== defaultExecutorNames && { executors: [...executors] }),
    ...(allow && { executorOptions: { bubblewrap: { network: { allow: [...allow] } } } }),
    ...(isPreset(require) ? { require } : require && { require: { ...require } }),
  }
}

/** @param at the workspace's root: a rule for a path outside would have no effect */
function checked(
  at: string,
  place: string,
  rule: { readonly rule: 'deny' | 'readOnly' | 'withinOutput'; readonly path: string },
) {
  const { path } = rule
  usageOf(place, () => rules[rule.rule](path))
  if (path.startsWith('/') && path !== at && !path.startsWith(at === '/' ? at : `${at}/`))
    throw new UsageError(
      `${place}: ${quotePath(path)} lies outside of ${at}; did you mean ${quotePath(path.slice(1))}?`,
    )
  return rule
}

/** Trusts the written file. Ignores a failure, for instance without a home directory. */
function tryTrust(file: string, text: string): boolean {
  try {
    trust(file, hashOf(Buffer.from(text)))
    return true
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    complainTo(process.stderr, error.message)
    return false
  }
}

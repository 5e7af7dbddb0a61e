import { resolve } from 'node:path'

import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { configName, findWorkspace, shownFile } from '../config/find.ts'
import { forget, hashOf, trust } from '../config/trusted.ts'
import { UsageError } from '../errors.ts'
import { exitCodes } from '../exit-codes.ts'

interface TrustFlags {
  readonly forget?: true
}

export function addTrust(program: Command, start: Start): void {
  program
    .command('trust')
    .summary('use a config file where it is found')
    .description(
      'Notes that you trust a config file as it is now, so that ws uses it in its directory and below, for --root and for --config. A ' +
        'command in the workspace may write such a file, so ws never uses one that you have not trusted, or that has changed.',
    )
    .argument('[file]', `default: the nearest ${configName}`)
    .option('--forget', 'do not trust it any more')
    .addHelpText('after', '\nExamples:\n  $ ws trust\n  $ ws trust --forget ../ws.config.json')
    .action((file: string | undefined, flags: TrustFlags) => {
      start((context) => run(context, file, flags))
    })
}

async function run({ output }: CommandContext, named: string | undefined, flags: TrustFlags): Promise<number> {
  const file = named === undefined ? findWorkspace().config : resolve(named)
  if (file === undefined) {
    throw new UsageError(`no ${configName} is here or above; run \`ws init\`, or name the file`)
  }
  if (flags.forget) forget(file)
  else {
    const { readFound, parseConfig } = await import('../config/load.ts')
    const content = await readFound(file)
    parseConfig(content.toString('utf8'), file, shownFile(file))
    trust(file, hashOf(content))
  }
  const trusted = flags.forget !== true
  if (output.json) await output.value({ file, trusted })
  else await output.line(`${shownFile(file)} is ${trusted ? 'trusted as it is now' : 'not trusted any more'}.`)
  return exitCodes.ok
}

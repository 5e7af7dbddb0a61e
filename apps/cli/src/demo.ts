import { createExecutor } from './config/executors.ts'
import { resolveSettings } from './config/settings.ts'
import { probeAll } from './commands/doctor/index.ts'
import { renderExecutors } from './commands/doctor/summary.ts'
import { runDemoPlan } from './demo/plan.ts'
import { createProject } from './demo/project.ts'
import { tellStory, type Teller } from './demo/story.ts'
import { describeError, Interruption } from './errors.ts'
import { ordinaryOwner } from './owner.ts'
import { createStyle } from './terminal/style.ts'

// A demonstration in two screens: files and shell of an agent, rules, a restore, a plan, and this machine's guarantees.

const style = createStyle(process.stdout)
const controller = new AbortController()
const { signal } = controller
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => controller.abort(new Interruption(name)))
}
process.stdout.on('error', () => controller.abort(new Interruption('SIGPIPE')))

const teller: Teller = {
  style: { ...style, width: Math.min(style.width, 80) },
  say: (line) => void process.stdout.write(`${line}\n`),
}
const { say } = teller
const title = (text: string): void => say(`\n${style.strong(text)}`)

async function demo(): Promise<number> {
  const owner = ordinaryOwner()
  const findings = await probeAll({ settings: await resolveSettings({}), signal }, owner)
  const ready = findings.find(({ available, executor }) => available && executor !== 'sanitize')
  // without a sandbox, use the bash interpreter
  const executor = await createExecutor(ready?.executor ?? 'virtual')
  say(style.strong('One workspace, two doors: an agent at work on a copy of a small project'))
  let worked: boolean
  {
    await using project = await createProject(owner)
    worked = await tellStory(project, executor, { ...teller, title })
  }
  title('4. A plan of four steps, and the same again')
  if (ready === undefined) say('   needs a sandbox, since its steps run node')
  else worked = (await runDemoPlan({ owner, executor, signal, ...teller })) && worked

  title('5. This machine')
  say(indented(renderExecutors({ findings, executor: ready?.executor }, { ...teller.style, width: 76 })))
  if (findings.some(({ available }) => !available)) say('   To see the rest: npm run setup:system && npm run demo')
  title('Try next')
  for (const [command, why] of next) say(`   ${command.padEnd(40)} ${style.dim(why)}`)
  return worked ? 0 : 1
}

const next = [
  ['npm run pack -- ../my-app @ws/cli', 'install ws in a directory of yours'],
  ['cd ../my-app; node_modules/.bin/ws init', 'write a config file with rules'],
  ['node_modules/.bin/ws exec -- ls -la', 'run a command under them'],
  ['docs/guides/give-a-model-tools.md', 'give a model these doors as tools'],
] as const

const indented = (text: string): string => text.replaceAll(/^/gmu, '   ')

try {
  process.exitCode = await demo()
} catch (error) {
  // after an interruption, an error is only its consequence: report the interruption
  const { line, exitCode } = describeError(signal.aborted ? signal.reason : error)
  if (line !== undefined) process.stderr.write(`demo: ${line}\n`)
  process.exitCode = exitCode
}

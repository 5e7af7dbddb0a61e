import { createExecutor, defaultExecutorNames } from './config/executors.ts'
import { startBucket, type DemoBucket } from './demo/bucket.ts'
import { projectSuite } from './demo/checks.ts'
import { showFaces } from './demo/faces.ts'
import { walkMount } from './demo/mount.ts'
import { runDemoPlan } from './demo/plan.ts'
import { createProject } from './demo/project.ts'
import { walk } from './demo/walk.ts'
import { describeError, Interruption } from './errors.ts'
import { ordinaryOwner } from './owner.ts'
import { createStyle } from './terminal/style.ts'
import { hasFailed, renderReport } from './verify/report.ts'
import { runChecks, type RunOptions } from './verify/run.ts'
import type { Report } from './verify/types.ts'

// A real project, opened as a workspace and worked on through both doors; then every check, as a table.

const style = createStyle(process.stdout)
const controller = new AbortController()
const { signal } = controller
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => {
    controller.abort(new Interruption(name))
  })
}

process.stdout.on('error', () => {
  controller.abort(new Interruption('SIGPIPE'))
})

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** A line that is overwritten, for those who watch. */
function progress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${style.dim(text)}`)
}

async function demo(): Promise<number> {
  const started = performance.now()
  const owner = ordinaryOwner()
  say(
    `\n${style.strong('One workspace, two doors')}: the file API and the shell, on a copy of test-fixtures/sample-project\n`,
  )
  const available = await Array.fromAsync(defaultExecutorNames, async (name) => {
    const executor = await createExecutor(name)
    return (await executor.probe({ owner, signal })).available ? executor : undefined
  })
  // Nothing is installed: an interpreter of bash shows what it can, and the table says which packages are missing.
  const fallback = 'virtual'
  const executor = available.find((one) => one !== undefined) ?? (await createExecutor(fallback))
  await using stack = new AsyncDisposableStack()
  const starting = startBucket().then(
    (started) => stack.use(started),
    (error: unknown) => describeFailure(error),
  )
  let facesWorked: boolean
  {
    await using project = await createProject(owner)
    const { root } = (await executor.probe({ owner, signal })).details
    const form = root === undefined ? '' : ` (root: ${root})`
    say(
      `${style.strong('At work')} in / with ${executor.name}${form}; skills are mounted read-only, /notes is denied\n`,
    )
    await walk(project, executor, style, say)
    say(`\n${style.strong('A model')} that follows a script, through three forms of the tools; it follows the errors\n`)
    facesWorked = await showFaces(project, { executor, style, say })
  }
  let planRan = true
  if (executor.name !== fallback) {
    say(`\n${style.strong('A plan')} of lint, test, build and a scripted agent, run twice\n`)
    planRan = await runDemoPlan({ owner, executor, style, say, signal })
  }
  const bucket = await starting
  let mountAgrees = true
  if (typeof bucket === 'string') say(`\n${style.note('No S3 here')}: R2's simulator does not start (${bucket})`)
  else {
    await using store = await bucket.createStore()
    await using project = await createProject(owner, store)
    say(`\n${style.strong('The same in a bucket')} of R2's simulator, with the virtual executor\n`)
    await walk(project, await createExecutor('virtual'), style, say)
    mountAgrees = await walkMount({ connection: bucket.connection, executor, style, say, signal })
  }

  let done = 0
  const common = {
    owner,
    signal,
    onResult: ({ executor: name, at, store, check }) => {
      done += 1
      progress(`${done} checks done; ${store ?? name} at ${at}: ${check.group}: ${check.title}`)
    },
  } satisfies Partial<RunOptions>
  const report = merge(
    await Promise.all([
      runChecks({
        ...common,
        suites: [projectSuite(owner)],
        executors: defaultExecutorNames,
        fallback,
        at: ['/', '/workspace'],
      }),
      ...(typeof bucket === 'string' ? [] : [checkBucket(bucket, common)]),
    ]),
  )
  progress('')
  say(`\n${renderReport(report, style)}`)
  say(style.dim(`\n${((performance.now() - started) / 1000).toFixed(1)} s; the scratch directories are removed.\n`))
  return hasFailed(report) || !facesWorked || !mountAgrees || !planRan ? 1 : 0
}

type CommonOptions = Pick<RunOptions, 'owner' | 'signal' | 'onResult'>

async function checkBucket({ createStore }: DemoBucket, common: CommonOptions): Promise<Report> {
  return await runChecks({ ...common, executors: ['virtual'], at: ['/'], createStore })
}

function merge(all: readonly Report[]): Report {
  return {
    results: all.flatMap(({ results }) => results),
    unavailable: all.flatMap(({ unavailable }) => unavailable),
    roots: all.flatMap(({ roots }) => roots),
  }
}

/** The first line holds the words of the simulator's makers. */
function describeFailure(error: unknown): string {
  signal.throwIfAborted()
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''
}

try {
  process.exitCode = await demo()
} catch (error) {
  // what fails after an interruption follows from it
  const { line, exitCode } = describeError(signal.aborted ? signal.reason : error)
  if (line !== undefined) process.stderr.write(`demo: ${line}\n`)
  process.exitCode = exitCode
}

import type { RunHistory } from '../runner.ts'
import type { StepRecord } from '../state/records.ts'
import { renderGraph } from './graph.ts'
import { escapeHtml as text } from './escape.ts'

export interface ReportPlan {
  readonly name: string
  readonly steps: readonly { readonly id: string; readonly type: string; readonly needs: readonly string[] }[]
}

/**
 * Returns an HTML page about a run: its step graph, times, logs, policy decisions and changes of text files.
 * The page loads nothing and runs no script. Everything that a step wrote is escaped.
 */
export function renderReport(plan: ReportPlan, { run, records }: RunHistory): string {
  const last = new Map<string, StepRecord>()
  for (const record of records.toSorted((a, b) => a.attempt - b.attempt)) last.set(record.stepId, record)
  const title = text(`${plan.name}: ${run.state}`)
  const steps = plan.steps.map((step) => renderStep(step, last.get(step.id), run.startedAt)).join('\n')
  const states = new Map([...last].map(([id, { outcome }]) => [id, outcome.state]))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
<p>Run ${run.number}, ${text(new Date(run.startedAt).toISOString())}, ${duration((run.endedAt ?? run.startedAt) - run.startedAt)}</p>
${renderGraph(plan.steps, states)}
${steps}
</body>
</html>
`
}

function renderStep(
  { id, type, needs }: ReportPlan['steps'][number],
  record: StepRecord | undefined,
  began: number,
): string {
  const state = record?.outcome.state ?? 'not run'
  const head = `<h2>${text(id)} <small>${text(type)}</small> <span class="state">${text(state)}</span></h2>`
  const after = needs.length === 0 ? '' : `<p>after ${needs.map((need) => text(need)).join(', ')}</p>`
  if (record === undefined) return `<section class="none" id="step-${text(id)}">${head}${after}</section>`
  const { outcome, report, attempt, entries } = record
  const files = entries.filter((entry) => entry.type === 'file').map(({ path }) => text(path))
  return `<section class="${outcome.state}" id="step-${text(id)}">
${head}${after}
<p>attempt ${attempt}, began at ${duration(report.startedAt - began)}, took ${duration(report.endedAt - report.startedAt)}; ${outcome.files} files, ${outcome.bytes} bytes</p>
${outcome.failure === undefined ? '' : `<p class="failure">${text(outcome.failure.message)}</p>`}
${files.length === 0 ? '' : details('Files', `<ul>${files.map((file) => `<li>${file}</li>`).join('')}</ul>`)}
${report.log === '' ? '' : details('Log', `<pre>${text(report.log)}</pre>`)}
${report.decisions.length === 0 ? '' : details('Decisions of the policy', renderDecisions(report.decisions))}
${report.diffs.map(({ path, diff }) => details(`Changes of ${path}`, `<pre>${text(diff)}</pre>`)).join('\n')}
</section>`
}

function renderDecisions(decisions: StepRecord['report']['decisions']): string {
  const rows = decisions.map(
    ({ outcome, operation, path, rule, times }) =>
      `<tr class="${outcome}"><td>${outcome}</td><td>${text(operation)}</td><td>${text(path)}</td><td>${text(rule ?? '')}</td><td>${times}</td></tr>`,
  )
  return `<table><tr><th>decision</th><th>operation</th><th>path or command</th><th>rule</th><th>times</th></tr>${rows.join('')}</table>`
}

function details(summary: string, body: string): string {
  return `<details><summary>${text(summary)}</summary>${body}</details>`
}

function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.max(0, milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}

const style = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1c2024 }
section { border-left: 4px solid #9aa4ae; padding: 0 1rem; margin: 1.5rem 0 }
section.done, section.current { border-color: #2a7d4f } section.failed { border-color: #b3261e }
.failure, tr.denied { color: #b3261e } small, .state { font-weight: normal; color: #59636e }
pre { background: #f4f5f7; padding: .75rem; overflow: auto; max-height: 30rem } table { border-collapse: collapse }
td, th { border: 1px solid #d8dde2; padding: .15rem .5rem; text-align: left } svg { max-width: 100%; height: auto }
svg rect { fill: #fff; stroke: #9aa4ae } svg .done rect, svg .current rect { stroke: #2a7d4f }
svg .failed rect { stroke: #b3261e } svg text { font: 12px system-ui, sans-serif } svg path { fill: none; stroke: #9aa4ae }
`

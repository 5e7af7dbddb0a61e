import type { Inngest } from 'inngest'
import { runPlan, type CheckedPlan, type Runner } from '@ws/runner'

export function createPlanFunction(inngest: Inngest, runner: Runner) {
  return inngest.createFunction({ id: 'run-plan', triggers: [{ event: 'plan/run' }] }, ({ event, step, runId }) =>
    runPlan(event.data.plan as CheckedPlan, {
      runId,
      step: (id, request) => step.run(id, () => runner.executeStep(request)),
    }),
  )
}

import type { Inngest } from 'inngest'
import type { Runner } from '@ws/runner'
import { runPlan, type CheckedPlan } from '@ws/runner/run-plan'

export function createPlanFunction(inngest: Inngest, runner: Runner) {
  return inngest.createFunction({ id: 'run-plan', triggers: [{ event: 'plan/run' }] }, ({ event, step, runId }) =>
    runPlan(event.data.plan as CheckedPlan, {
      runId,
      step: (id, request) => step.run(id, () => runner.executeStep(request)),
    }),
  )
}

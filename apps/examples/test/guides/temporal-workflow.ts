import { proxyActivities, workflowInfo } from '@temporalio/workflow'
import { runPlan, type CheckedPlan, type RunResult, type StepOutcome, type StepRequest } from '@ws/runner/run-plan'

/** On the worker: `Worker.create({ activities: { executeStep: (request) => runner.executeStep(request) } })` */
interface Activities {
  executeStep(request: StepRequest): Promise<StepOutcome>
}

const { executeStep } = proxyActivities<Activities>({ startToCloseTimeout: '1 hour' })

export function planWorkflow(plan: CheckedPlan): Promise<RunResult> {
  return runPlan(plan, { runId: workflowInfo().workflowId, step: (_id, request) => executeStep(request) })
}

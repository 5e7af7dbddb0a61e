import { createAgentStep, type Model } from './agent.ts'
import { commandStep } from './command.ts'
import { toolStep } from './tool.ts'
import type { StepTypes } from './types.ts'

export function createStepTypes(own: StepTypes = {}, model?: Model): StepTypes {
  const agent = model === undefined ? {} : { agent: createAgentStep(model) }
  return { command: commandStep, tool: toolStep, ...agent, ...own }
}

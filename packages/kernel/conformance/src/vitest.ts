import { describe, it } from 'vitest'
import type { AdapterSuiteOptions } from './options/adapter.ts'
import { testAdapter as define } from './adapter/test-adapter.ts'
import type { CoherenceSuiteOptions } from './options/coherence.ts'
import { testCoherence as defineCoherence } from './coherence/test-coherence.ts'
import { testExecutor as defineExecutor } from './executor/test-executor.ts'
import type { Runner } from './runner.ts'
import type { WorkspaceSuiteOptions } from './options/workspace.ts'
import { testWorkspace as defineWorkspace } from './workspace/test-workspace.ts'

const vitestRunner: Runner = {
  describe: (title, inner) => {
    describe(title, inner)
  },
  it: (title, test) => {
    it(title, (context) => test({ skip: (reason) => context.skip(reason) }))
  },
}

export function testAdapter(options: AdapterSuiteOptions): void {
  define(options, vitestRunner)
}

export function testCoherence(options: CoherenceSuiteOptions): void {
  defineCoherence(options, vitestRunner)
}

export function testExecutor(options: WorkspaceSuiteOptions): void {
  defineExecutor(options, vitestRunner)
}

export function testWorkspace(options: WorkspaceSuiteOptions): void {
  defineWorkspace(options, vitestRunner)
}

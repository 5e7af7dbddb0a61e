import { checkOptions, option, type OptionShapes } from '@ws/core/options'

import type { AdapterSuiteOptions } from './adapter.ts'
import type { CoherenceSuiteOptions } from './coherence.ts'
import type { WorkspaceSuiteOptions } from './workspace.ts'

const suite = { name: option.required(option.text), create: option.required(option.function) }

const shapes = {
  adapter: { ...suite, pageSize: option.integer(1), deep: option.boolean } satisfies OptionShapes<AdapterSuiteOptions>,
  coherence: suite satisfies OptionShapes<CoherenceSuiteOptions>,
  workspace: {
    ...suite,
    roots: option.list(option.oneOf('/', '/workspace', 'own'), 'a list of `/`, `/workspace` and `own`'),
    shell: option.text,
    refusesCommands: option.boolean,
    departures: option.map(option.text, option.text),
  } satisfies OptionShapes<WorkspaceSuiteOptions>,
}

export function checkSuite(operation: string, kind: keyof typeof shapes, options: unknown): void {
  checkOptions<object>(options, shapes[kind], { operation })
}

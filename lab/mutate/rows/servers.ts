import type { Mutations } from '../types.ts'

export const serverMutations: Mutations = {
  'a client without a token, or with a wrong one': [
    {
      removes: 'the refusal of what the gate refuses',
      text: '    if (subject instanceof Response) return this.#send(response, subject)\n',
      by: '    if (subject instanceof Response) return this.#post(request, response, url, undefined)\n',
      title: 'without a token',
    },
  ],
  "a client that is after another subject's files": [
    {
      removes: 'the workspace of its own',
      text: 'const key = subject === undefined',
      by: 'const key = subject !== undefined',
      title: "another subject's thread",
    },
  ],
  'a client whose bytes take longer to parse than to send: chunks of one byte, many requests at once, large texts': [
    {
      removes: 'the turns of others between two slices of a read',
      text: 'await pace.run(() => this.#pushSlice())',
      by: 'this.#pushSlice()',
      title: 'a little at a time',
    },
  ],
  'another writer in the output while a step lands': [
    {
      removes: 'the condition on the entry that was seen',
      text: 'mode: stat.mode, ifVersion })',
      by: 'mode: stat.mode })',
      title: 'changed what an earlier run wrote',
    },
  ],
  'a step of a plan that reads or writes beyond what it declares': [
    {
      removes: 'the rule that shows a step its inputs only',
      text: "const entries: Record<string, 'none' | 'read-only' | 'read-write'> = { [workspaceAt]: 'none' }",
      by: "const entries: Record<string, 'none' | 'read-only' | 'read-write'> = { [workspaceAt]: 'read-only' }",
      title: 'reads nothing but the inputs',
    },
  ],
}

import type { Mutations } from '../types.ts'

export const serverMutations: Mutations = {
  'a client that cannot ask its user about changes': [
    {
      removes: 'the refusal of its calls',
      text: 'return cannotAsk(tool.name)',
      by: 'cannotAsk(tool.name)',
      title: 'of a client that cannot ask',
    },
  ],
  'a client that answers a question that was not asked': [
    {
      removes: 'the list of open questions',
      text: 'message.id !== undefined && this.#asked.delete(message.id)',
      by: 'message.id !== undefined',
      title: 'no answer that was not asked for',
    },
    {
      removes: 'the random id',
      text: 'const id = randomUUID()',
      by: "const id = 'x'",
      title: 'by a state that is not known',
    },
  ],
  'a call whose changes were not shown to a person: approved twice, in another process, or after a grant': [
    {
      removes: 'the drop of changes after a grant',
      text: 'if (call !== undefined && call.asked > 1)',
      by: 'if (call === undefined)',
      test: 'packages/agents/tools/test/bridge/effects.test.ts',
      title: 'keep no changes that a framework approved',
    },
    {
      removes: 'the answer to an unknown call',
      text: ' ?? unseenAnswer',
      by: " ?? { ...unseenAnswer, isError: false, text: '' }",
      test: 'packages/agents/tools/test/bridge/effects.test.ts',
      title: 'run one at a time',
    },
    {
      removes: 'the look for an approved call of Claude Code',
      file: 'packages/bridges/anthropic/src/agent-sdk.ts',
      text: 'changing.has(own(toolName)) ? asking?.take',
      by: '!changing.has(own(toolName)) ? asking?.take',
      test: 'packages/bridges/anthropic/test/effects.test.ts',
      title: 'runs no call that nobody was asked about',
    },
  ],
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

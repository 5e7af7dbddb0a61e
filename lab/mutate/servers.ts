import type { Mutation } from './types.ts'

const front = 'apps/mcp-server/src/http/front.ts'
const attacks = 'apps/mcp-server/test/http.test.ts'

export const serverMutations: readonly Mutation[] = [
  {
    row: 'a web page that talks to a server on the loopback (DNS rebinding, a foreign origin)',
    removes: 'the checks of `Host` and `Origin`',
    file: front,
    text: 'if (this.#guards.every((guard) => guard(request, response))) await',
    by: 'await',
    test: { file: attacks, title: 'DNS rebinding' },
  },
  {
    row: 'a client without a token, or with a wrong one',
    removes: 'the refusal of what the gate refuses',
    file: front,
    text: '    if (subject instanceof Response) return this.#send(response, subject)\n',
    by: '    if (subject instanceof Response) return this.#post(request, response, url, undefined)\n',
    test: { file: attacks, title: 'without a token' },
  },
  {
    row: "a client that is after another subject's files",
    removes: 'the workspace of its own',
    file: 'apps/mcp-server/src/http/subjects.ts',
    text: 'const key = subject === undefined',
    by: 'const key = subject !== undefined',
    test: { file: attacks, title: "another subject's thread" },
  },
  {
    row: 'a client that sends, leaves unread or keeps open more than its share',
    removes: 'the share that is left for other subjects',
    file: 'apps/mcp-server/src/messages/limits.ts',
    text: ' || (this.#isShared && held > 0 && held + amount > left)',
    test: { file: attacks, title: 'leaves a share for others' },
  },
  {
    row: 'a client whose bytes take longer to parse than to send: chunks of one byte, many requests at once, large texts',
    removes: 'the turns of others between two slices of a read',
    file: 'apps/mcp-server/src/http/connection.ts',
    text: 'await pace.run(() => this.#pushSlice())',
    by: 'this.#pushSlice()',
    test: { file: 'apps/mcp-server/test/connection.test.ts', title: 'a little at a time' },
  },
  {
    row: 'a web page that names another host in the address itself',
    removes: 'the check of the host in the address',
    file: front,
    text: '!this.#hosts.includes(url.hostname)',
    by: 'false',
    test: { file: attacks, title: 'in absolute form' },
  },
  {
    row: 'another writer in the output while a step lands',
    removes: 'the condition on the entry that was seen',
    file: 'packages/agents/runner/src/step/land.ts',
    text: 'mode: stat.mode, ifVersion })',
    by: 'mode: stat.mode })',
    test: { file: 'packages/agents/runner/test/security/landing.test.ts', title: 'changed what an earlier run wrote' },
  },
  {
    row: 'a step of a plan that reads or writes beyond what it declares',
    removes: 'the rule that shows a step its inputs only',
    file: 'packages/agents/runner/src/step/workspace.ts',
    text: "const entries: Record<string, Access> = { [workspaceAt]: 'none' }",
    by: "const entries: Record<string, Access> = { [workspaceAt]: 'read-only' }",
    test: { file: 'packages/agents/runner/test/security/doors.test.ts', title: 'reads nothing but the inputs' },
  },
]

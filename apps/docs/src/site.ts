export interface Page {
  /** The path below the site's root, without extension: `stores/s3`. */
  readonly route: string
  readonly title: string
  readonly source: string
  /** The end of "Add `@ws` to this project ", a text for the reader's coding agent. */
  readonly task?: string
}

export const addressOf = ({ route }: Pick<Page, 'route'>): string => `/${route === 'index' ? '' : route}`

export interface Section {
  readonly title: string
  readonly pages: readonly Page[]
}

const page = (route: string, title: string, source: string, task?: string): Page => ({
  route,
  title,
  source,
  ...(task === undefined ? {} : { task }),
})

/** Sections and pages, in the order for a newcomer. */
export const sections: readonly Section[] = [
  {
    title: 'Start',
    pages: [
      page('index', 'One filesystem for an AI agent', 'README.md'),
      page('start/playground', 'Playground', 'docs/start/playground.md'),
      page(
        'start/agent',
        'An agent with real commands',
        'docs/start/agent.md',
        'so that its agent has a sandboxed workspace',
      ),
      page('start/tests', 'A test suite in memory', 'docs/start/tests.md', 'so that its tests run on files in memory'),
      page('start/paths', 'Paths and rules only', 'docs/start/paths.md', 'so that one object decides on all its paths'),
      page('install', 'Install', 'docs/start/install.md'),
    ],
  },
  {
    title: 'Concepts',
    pages: [
      page('concepts/two-doors', 'Two doors, one tree', 'docs/concepts/two-doors.md'),
      page('concepts/rules', 'Rules', 'docs/concepts/rules.md'),
      page('concepts/what-holds', 'Guarantees', 'docs/concepts/what-holds.md'),
    ],
  },
  {
    title: 'Your framework',
    pages: [
      page(
        'frameworks/own-loop',
        'Your own loop',
        'packages/agents/tools/README.md',
        'and give its model the tools of `@ws/tools`',
      ),
      page('frameworks/give-a-model-tools', 'Choose a form of tools', 'docs/guides/give-a-model-tools.md'),
      page('frameworks/ai-sdk', 'AI SDK', 'packages/bridges/ai-sdk/README.md', 'for an agent of the AI SDK'),
      page(
        'frameworks/anthropic',
        'Anthropic and Claude Agent SDK',
        'packages/bridges/anthropic/README.md',
        'for an agent of the Anthropic SDK',
      ),
      page(
        'frameworks/openai-agents',
        'OpenAI Agents SDK',
        'packages/bridges/openai-agents/README.md',
        'for an agent of the OpenAI Agents SDK',
      ),
      page(
        'frameworks/deepagents',
        'deepagents',
        'packages/bridges/deepagents/README.md',
        'as the backend of deepagents',
      ),
      page(
        'frameworks/mastra',
        'Mastra',
        'packages/bridges/mastra/README.md',
        'as the file system and sandbox of Mastra',
      ),
      page('frameworks/langchain', 'LangChain', 'docs/frameworks/langchain.md', 'for an agent of LangChain'),
      page('frameworks/mcp', 'MCP: Claude Code, Cursor, Codex', 'apps/mcp-server/README.md', 'as an MCP server'),
      page('frameworks/compared', 'Frameworks side by side', 'docs/bridges.md'),
      page('frameworks/examples', 'A whole back end', 'apps/examples/README.md'),
    ],
  },
  {
    title: 'Your store',
    pages: [
      page(
        'stores/local',
        'A local directory',
        'packages/adapters/local/README.md',
        'over a directory of this machine',
      ),
      page('stores/memory', 'Memory', 'packages/adapters/memory/README.md', 'over files in memory'),
      page('stores/s3', 'S3 and R2', 'packages/adapters/s3/README.md', 'over a bucket of S3 or R2'),
      page(
        'stores/replica',
        'A bucket with real programs',
        'packages/adapters/replica/README.md',
        'over a copy of a bucket, in which programs work',
      ),
      page('stores/rclone', 'A mount of rclone', 'packages/adapters/rclone/README.md', 'over a mount of rclone'),
      page('stores/write-an-adapter', 'Write an adapter', 'docs/guides/write-an-adapter.md'),
    ],
  },
  {
    title: 'Your machine',
    pages: [
      page('executors/bubblewrap', 'bubblewrap: untrusted commands', 'packages/executors/bubblewrap/README.md'),
      page('executors/proot', 'proot: without user namespaces', 'packages/executors/proot/README.md'),
      page('executors/sandbox-runtime', 'sandbox-runtime: macOS', 'packages/executors/sandbox-runtime/README.md'),
      page('executors/virtual', 'The interpreter: any system', 'packages/executors/virtual/README.md'),
      page('executors/sanitize', 'sanitize: trusted commands', 'packages/executors/sanitize/README.md'),
      page('executors/container', 'Containers: programs of an image', 'docs/executors/container.md'),
      page('executors/containers', 'Docker and Kubernetes', 'docs/guides/run-in-containers.md'),
      page('executors/remote', 'Remote machines', 'docs/executors/remote.md'),
      page('executors/macos-and-windows', 'macOS and Windows', 'docs/guides/run-on-macos-and-windows.md'),
      page('executors/write-an-executor', 'Write an executor', 'docs/guides/write-an-executor.md'),
    ],
  },
  {
    title: 'Rules, undo, network',
    pages: [
      page('rules/recipes', 'Rules as recipes', 'docs/rules.md'),
      page('rules/protected-names', 'Names that are protected', 'docs/protected-names.md'),
      page('undo/let-a-person-decide', 'Let a person decide', 'docs/guides/let-a-person-decide-about-effects.md'),
      page('undo/let-an-agent-try', 'Let an agent try', 'docs/guides/let-an-agent-try.md'),
      page(
        'undo/snapshots',
        'Checkpoints',
        'packages/agents/snapshots/README.md',
        'and its checkpoints, to take back an agent’s work',
      ),
      page('undo/worktrees', 'A worktree for each agent', 'docs/guides/worktree-for-each-agent.md'),
      page('network/by-name', 'Reach the network by name', 'docs/guides/reach-the-network.md'),
      page('network/dev-server', 'Run a dev server', 'docs/guides/run-a-dev-server.md'),
      page('network/download', 'Downloads', 'packages/agents/download/README.md'),
    ],
  },
  {
    title: 'Production',
    pages: [
      page('production/checklist', 'Production', 'docs/production.md'),
      page(
        'production/threads',
        'Threads',
        'packages/agents/threads/README.md',
        'with a workspace for each conversation',
      ),
      page('production/observability', 'Audit, spans and metrics', 'packages/agents/observability/README.md'),
      page('production/runner', 'Plans', 'packages/agents/runner/README.md'),
      page('production/run-plans', 'Run plans', 'docs/guides/run-plans.md'),
      page('production/speed', 'Speed', 'docs/speed.md'),
      page('production/performance', 'Performance', 'docs/cost-of-commands.md'),
      page('production/cli', 'The command line', 'apps/cli/README.md'),
    ],
  },
  {
    title: 'Test with it',
    pages: [
      page(
        'tests/testing',
        'In a test runner',
        'packages/agents/testing/README.md',
        'to test code that works on files',
      ),
      page('tests/node-fs', 'Code that uses node:fs', 'docs/guides/test-code-that-uses-node-fs.md'),
      page('tests/conformance', 'Test an adapter or executor', 'packages/kernel/conformance/README.md'),
    ],
  },
  {
    title: 'Security',
    pages: [
      page('security/threat-model', 'Threat model', 'docs/threat-model.md'),
      page('security/escapes', 'Escapes that were tried', 'docs/escapes.md'),
      page('security/promises', 'Promises and their tests', 'docs/promises.md'),
      page('security/conformance', 'The conformance kit', 'docs/conformance.md'),
      page('security/report', 'Report a vulnerability', 'SECURITY.md'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('errors', 'Errors by code', 'docs/guides/troubleshoot.md'),
      page('compared', 'Compared', 'docs/compared.md'),
      page('reference/core', '@ws/core', 'packages/kernel/core/README.md'),
      page('reference/documents', '@ws/documents', 'packages/agents/documents/README.md'),
      page('reference/network', '@ws/network', 'packages/kernel/network/README.md'),
      page('reference/sandbox', '@ws/sandbox', 'packages/kernel/sandbox/README.md'),
      page('reference/command-parser', '@ws/command-parser', 'packages/kernel/command-parser/README.md'),
      page('reference/text-search', '@ws/text-search', 'packages/kernel/text-search/README.md'),
      page('reference/tree', '@ws/tree', 'packages/kernel/tree/README.md'),
      page('reference/shell-tools', '@ws/shell-tools', 'packages/shell-tools/README.md'),
      page('architecture', 'Architecture', 'docs/architecture.md'),
      page('requirements', 'Requirements', 'docs/requirements.md'),
      page('contributing', 'Contributing', 'CONTRIBUTING.md'),
    ],
  },
]

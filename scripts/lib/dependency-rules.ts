import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { IConfiguration, IForbiddenRuleType } from 'dependency-cruiser'

import { repositoryRoot } from './run.ts'

const source = '^(packages|packages/[a-z]+|apps|lab)/[^/]+/src/'

/** Internal packages that another room may import: the only importer, and the reason why no public door has these names. */
const internalImports: Readonly<Record<string, readonly [importer: string, reason: string]>> = {
  'packages/kernel/tree': ['packages/agents/snapshots', 'checkpoints are the history of a scan, which no user needs'],
  'packages/kernel/network': ['packages/agents/download', 'checking and dialling have one home; both are internal'],
  'packages/kernel/text-search': ['packages/agents/tools', 'refuses a pattern as the stores do, before one is asked'],
}

interface Manifest {
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly keywords?: readonly string[]
}

const packages = globSync('packages/{*,*/*}/package.json', { cwd: repositoryRoot }).map((file) => {
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, file), 'utf8')) as Manifest
  return { folder: dirname(file), ...manifest }
})

/** Rules for imports. The dependencies of each package follow from the layers of the design. */
export const dependencyRules: IConfiguration = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Modules that import each other cannot be understood alone.',
      severity: 'error',
      from: {},
      // a type may form a cycle, because types vanish at run time
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'core-without-io',
      comment: 'The core is pure: of Node it may use the path functions only, so that it runs anywhere.',
      severity: 'error',
      from: { path: '^packages/kernel/core/src/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?path(/posix)?$' },
    },
    {
      name: 'core-without-dependencies',
      comment: 'An import of the core installs the core and nothing else.',
      severity: 'error',
      from: { path: '^packages/kernel/core/src/' },
      to: { dependencyTypesNot: ['core'], pathNot: '^packages/kernel/core/src/' },
    },
    {
      name: 'only-declared-dependencies',
      comment: 'A package imports what its own package.json declares for its users, and nothing else.',
      severity: 'error',
      // these use the test fixtures, and are run from the repository, not published
      from: { path: source, pathNot: '^(apps/cli/src/demo[./]|lab/)' },
      // packages of this repository resolve to their sources, and turbo's boundaries check them
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'],
        pathNot: '^((packages|packages/[a-z]+)/[^/]+|apps/mcp-server|lab/tests-support)/src/',
        // a peer is declared, and tests install one
        dependencyTypesNot: ['npm-peer'],
      },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      // runs in a project with packed packages
      from: { pathNot: '^scripts/lib/packed-program\\.mjs$' },
      to: { couldNotResolve: true },
    },
    {
      name: 'adapters-stand-alone',
      comment:
        'An adapter knows the contracts, text search, how to start and confine processes, and the local disk; no other adapter, no executor.',
      severity: 'error',
      from: { path: '^packages/(adapters/(?!replica/)[^/]+)/src/' },
      to: { path: '^packages/', pathNot: '^packages/(kernel/(core|sandbox|text-search)|adapters/local|$1)/' },
    },
    {
      name: 'executors-stand-alone',
      comment:
        'An executor may use the command parser, the shell tools, the downloader, and what there is for processes, sandboxes and the network, but no adapter and no other executor.',
      severity: 'error',
      from: { path: '^packages/(executors/[^/]+)/src/' },
      to: {
        path: '^packages/',
        pathNot: '^packages/(kernel/(core|network|sandbox|command-parser)|agents/download|shell-tools|$1)/',
      },
    },
    {
      name: 'snapshots-know-the-disk-only',
      comment:
        'Checkpoints work below a workspace: they know the scan of a disk and the names that commands reserve on it.',
      severity: 'error',
      from: { path: '^packages/agents/snapshots/src/' },
      to: { path: '^packages/', pathNot: '^packages/(kernel/(core|sandbox|tree)|agents/snapshots)/' },
    },
    {
      name: 'replica-knows-the-disk-and-its-scan',
      comment:
        'A replica is a disk with a store behind it: it shares the scan of checkpoints, and any adapter is its store.',
      severity: 'error',
      from: { path: '^packages/adapters/replica/src/' },
      to: {
        path: '^packages/',
        pathNot: '^packages/(kernel/(core|sandbox|tree)|adapters/(local|replica))/',
      },
    },
    {
      name: 'tree-knows-the-disk-only',
      comment:
        'The scan of a disk lies below checkpoints and replicas. It knows the names of temporary files on a disk.',
      severity: 'error',
      from: { path: '^packages/kernel/tree/src/' },
      to: { path: '^packages/', pathNot: '^packages/(kernel/(core|tree)/|adapters/local/src/internal[.]ts$)' },
    },
    {
      name: 'tools-stand-alone',
      comment: 'The libraries below adapters and executors know the contracts only.',
      severity: 'error',
      from: {
        path: '^packages/(kernel/(?:sandbox|text-search|command-parser|network)|agents/documents|shell-tools)/src/',
      },
      to: { path: '^packages/', pathNot: '^packages/(kernel/core|$1)/' },
    },
    {
      name: 'downloads-know-the-network',
      comment: 'Resolving, checking and dialling have one home, which knows the contracts only.',
      severity: 'error',
      from: { path: '^packages/agents/download/src/' },
      to: { path: '^packages/', pathNot: '^packages/(kernel/(core|network)|agents/download)/' },
    },
    {
      name: 'tools-know-the-workspace-only',
      comment: 'The tools work on any workspace: they know no adapter and no executor.',
      severity: 'error',
      from: { path: '^packages/agents/tools/src/' },
      to: { path: '^packages/', pathNot: '^packages/(kernel/(core|text-search)|agents/(documents|download|tools))/' },
    },
    {
      name: 'conformance-knows-contracts-only',
      comment: 'Third parties run the kit on their own implementations: it may bring in none of ours.',
      severity: 'error',
      from: { path: '^packages/kernel/conformance/src/' },
      to: { path: '^packages/', pathNot: '^packages/kernel/(core|conformance)/' },
    },
    {
      name: 'internal-door-for-known-packages',
      comment:
        'The internal door of the local adapter is no contract: the rclone adapter and the scan of a disk, released with it, may use it.',
      severity: 'error',
      from: { pathNot: '^packages/(adapters/(local|rclone)|kernel/tree)/' },
      to: { path: '^packages/adapters/local/src/internal[.]ts$' },
    },
    {
      name: 'no-test-code-in-products',
      severity: 'error',
      from: { path: '^packages/.+/src/' },
      to: { path: '(^apps/|^lab/|^test-fixtures/|/test/|^scripts/)' },
    },
    ...publicDoorsOnly(),
    {
      name: 'public-entry-only',
      comment: 'Another package is reached through its exports, never through its files.',
      severity: 'error',
      from: { path: '^((?:packages/[a-z]+|packages|apps|lab)/[^/]+)/' },
      to: {
        path: '^(packages|packages/[a-z]+)/[^/]+/src/',
        pathNot: ['^$1/', ...publicEntries()],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|sample-project|[.]test-report)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@ws/source', 'node', 'import', 'types', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.json', '.d.ts'],
    },
  },
}

function publicEntries(): string[] {
  return packages.flatMap(({ folder, exports = {} }) => {
    const files = Object.values(exports).flatMap((target) => (typeof target === 'string' ? [] : target['@ws/source']))
    return files.flatMap((file) => (file === undefined ? [] : `^${join(folder, file).replaceAll('.', '[.]')}$`))
  })
}

/** One rule for each package that its package.json marks as internal. */
function publicDoorsOnly(): IForbiddenRuleType[] {
  const internal = packages.filter(({ keywords }) => keywords?.includes('internal'))
  return internal.map(({ folder }) => ({
    name: 'public-doors-only',
    comment: 'Agents, bridges and apps use public doors, as users do, and internal packages of their own room.',
    severity: 'error',
    from: { path: '^(packages/(?:agents|bridges)|apps)/', pathNot: `^${internalImports[folder]?.[0] ?? folder}/` },
    to: { path: `^${folder}/`, pathNot: '^$1/' },
  }))
}

import type { Workspace } from '@ws/core'
import { expect, test, type TestAPI } from 'vitest'

import type { TreeOptions, TreeSource } from './read.ts'
import { createTestWorkspace, type TestWorkspace, type TestWorkspaceOptions } from './test-workspace.ts'
import type { Tree } from './tree.ts'
import { judgeDenial, judgeFile, judgeTree, type Attempt, type ExpectedDenial, type FileContent } from './verdict.ts'

declare module 'vitest' {
  // the type parameters must equal those of Vitest's own declaration
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    toHaveFile(path: string, content?: FileContent): Promise<void>
    toHaveTree(tree: Tree, options?: Pick<TreeOptions, 'in'>): Promise<void>
    toBeDenied(expected?: ExpectedDenial): Promise<void>
  }
}

expect.extend({
  toHaveFile: (source: TreeSource, path: string, content?: FileContent) => judgeFile(source, path, content),
  toHaveTree: (source: TreeSource, tree: Tree, options?: Pick<TreeOptions, 'in'>) => judgeTree(source, tree, options),
  toBeDenied: (attempt: Attempt, expected?: ExpectedDenial) => judgeDenial(attempt, expected),
})

export interface WorkspaceFixtures {
  readonly site: TestWorkspace
  readonly workspace: Workspace
}

/** Vitest's `test` with a fresh workspace for each test, closed after the test. */
export function workspaceTest(options: TestWorkspaceOptions = {}): TestAPI<WorkspaceFixtures> {
  return test.extend<WorkspaceFixtures>({
    // oxlint-disable-next-line no-empty-pattern -- Vitest reads the names of the fixtures that are used
    site: async ({}, use) => {
      const site = await createTestWorkspace(options)
      try {
        await use(site)
      } finally {
        await site.close()
      }
    },
    workspace: async ({ site }, use) => use(site.workspace),
  })
}

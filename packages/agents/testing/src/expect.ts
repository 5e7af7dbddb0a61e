import { AssertionError } from 'node:assert'

import type { TreeOptions, TreeSource } from './read.ts'
import type { Tree } from './tree.ts'
import {
  judgeDenial,
  judgeFile,
  judgeTree,
  type Attempt,
  type ExpectedDenial,
  type FileContent,
  type Verdict,
} from './verdict.ts'

/** Expects a file with this content; without content, any file. @throws AssertionError */
export async function expectFile(source: TreeSource, path: string, content?: FileContent): Promise<void> {
  require(await judgeFile(source, path, content), expectFile)
}

/** Expects exactly these files, with the permission bits and times that `tree` names. @throws AssertionError */
export async function expectTree(source: TreeSource, tree: Tree, options?: Pick<TreeOptions, 'in'>): Promise<void> {
  require(await judgeTree(source, tree, options), expectTree)
}

/**
 * Expects a refusal by a rule, a mount or the workspace's border. @throws AssertionError
 * A command is denied if the workspace refuses the command, or if the command fails and its `hints` name a rule.
 */
export async function expectDenied(attempt: Attempt, expected?: ExpectedDenial): Promise<void> {
  require(await judgeDenial(attempt, expected), expectDenied)
}

// Omit `stackStartFn` from the stack, so that the stack begins in the test.
function require({ pass, message, actual, expected }: Verdict, stackStartFn: (...args: never[]) => unknown): void {
  if (!pass) throw new AssertionError({ message: message(), actual, expected, operator: 'equal', stackStartFn })
}

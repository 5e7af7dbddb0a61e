import { createMemoryAdapter } from '@ws/adapter-memory'
import type { WorkspaceFixture } from '@ws/conformance'
import type { Executor } from '@ws/core/executor'

export function inMemory(executor: Executor): WorkspaceFixture {
  return { executor, createStore: () => createMemoryAdapter() }
}

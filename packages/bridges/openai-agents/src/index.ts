export { createEditor } from './editor.ts'
export { createShell } from './shell.ts'
export type { ShellOptions } from './shell.ts'
export { createSandboxClient } from './sandbox/client.ts'
export type {
  OpenWorkspace,
  WorkspaceClientOptions,
  WorkspaceRequest,
  WorkspaceSandboxClient,
} from './sandbox/client.ts'
export type { RequestedMount } from './sandbox/manifest.ts'
export type { WorkspaceSandboxSession } from './sandbox/session.ts'
export type { WorkspaceSandboxState } from './sandbox/state.ts'

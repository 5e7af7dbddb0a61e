import {
  isDir,
  isMount,
  Manifest,
  Permissions,
  SandboxMountConfigError,
  SandboxUnsupportedFeatureError,
} from '@openai/agents-core/sandbox'
import type { Entry, SnapshotSpec } from '@openai/agents-core/sandbox'
import { copyManifestMountCredentialExposurePolicy } from '@openai/agents-core/sandbox/internal'
import { isWorkspaceError } from '@ws/core'
import type { VirtualPath, Workspace } from '@ws/core'

import { placeOf } from './paths.ts'

export interface RequestedMount {
  /** The path in the manifest: absolute, inside or outside of its `root`. */
  readonly path: string
  /** The manifest's own entry, with its bucket or directory. */
  readonly entry: Entry
  readonly access: 'read-only' | 'read-write'
}

export function requestedMounts(manifest: Manifest): RequestedMount[] {
  return manifest.mountTargets().map(({ mountPath, entry }) => ({
    path: mountPath,
    entry,
    access: entry.readOnly === false ? 'read-write' : 'read-only',
  }))
}

export function withRoot(manifest: Manifest, root: string): Manifest {
  if (manifest.root === root) return manifest
  const { version, entries, environment, users, groups, extraPathGrants, remoteMountCommandAllowlist } = manifest
  const changed = new Manifest({
    version,
    root,
    entries: structuredClone(entries),
    environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value.init()])),
    users: structuredClone(users),
    groups: structuredClone(groups),
    extraPathGrants: structuredClone(extraPathGrants),
    remoteMountCommandAllowlist: [...remoteMountCommandAllowlist],
  })
  copyManifestMountCredentialExposurePolicy(changed, manifest)
  return changed
}

/** @throws SandboxUnsupportedFeatureError for a part that a workspace does not support, before any change */
export function checkManifest(manifest: Manifest, snapshot?: SnapshotSpec): void {
  if (manifest.users.length > 0 || manifest.groups.length > 0) {
    throw unsupported(
      'users and groups',
      'everything belongs to the owner of the workspace',
      'leave out `users`, `groups` and `runAs`',
    )
  }
  const grant = manifest.extraPathGrants.find(({ hostPath, readOnly }) => hostPath !== undefined || readOnly)
  if (grant !== undefined) {
    throw unsupported(
      `the grant of \`${grant.path}\``,
      'its mounts and rules say which paths can be used, and how',
      'mount the directory in the workspace, read-only if need be',
    )
  }
  if (snapshot !== undefined && snapshot.type !== 'noop') {
    throw unsupported(
      `snapshots of the type \`${snapshot.type}\``,
      'its files stay in its own store',
      'leave out `snapshot`, or use `persistWorkspace`',
    )
  }
  for (const { logicalPath, entry } of manifest.iterEntries()) checkEntry(logicalPath, entry)
}

/** @throws SandboxUnsupportedFeatureError */
export function checkEntry(path: string, entry: Entry): void {
  if (entry.group !== undefined) {
    throw unsupported(
      `the group of \`${path}\``,
      'everything belongs to the owner of the workspace',
      'leave out `group`',
    )
  }
  if (entry.type === 'local_file' || entry.type === 'local_dir') {
    throw unsupported(
      `\`${path}\` of the type \`${entry.type}\``,
      'it reads no directory of this machine that is not mounted',
      'mount the directory with `createLocalAdapter`, read-only if need be',
    )
  }
  if (entry.type === 'git_repo') {
    throw unsupported(
      `\`${path}\` of the type \`git_repo\``,
      'it fetches nothing by itself',
      'clone the repository with a command, or mount a directory that holds it',
    )
  }
}

function unsupported(subject: string, reason: string, remedy: string): SandboxUnsupportedFeatureError {
  return new SandboxUnsupportedFeatureError(`a workspace does not support ${subject}: ${reason}; ${remedy}`, { remedy })
}

/** @throws SandboxMountConfigError where the workspace lacks a mount, or has the mount with another access */
export async function checkMounts(workspace: Workspace, mounts: readonly RequestedMount[]): Promise<void> {
  for (const { path, access } of mounts) {
    const at = await placeOf(workspace, path)
    const found = workspace.mounts.find((mount) => mount.at === at)
    if (found?.access === access) continue
    const state = found === undefined ? 'is not a mount of the workspace' : `is mounted \`${found.access}\``
    const remedy = `give createWorkspace a mount with \`at: '${at}'\` and \`access: '${access}'\``
    throw new SandboxMountConfigError(
      `\`${at}\` ${state}, and the manifest asks for one that is \`${access}\`; ${remedy}`,
      { path: at, remedy },
    )
  }
}

/** Makes a manifest's entries. Existing files get the manifest's content. */
export async function materialize(workspace: Workspace, path: string, entry: Entry): Promise<void> {
  checkEntry(path, entry)
  if (isMount(entry)) return
  if (isDir(entry)) {
    await workspace.createDirectory(path)
    for (const [name, child] of Object.entries(entry.children ?? {})) {
      await materialize(workspace, path === '' || path === '.' ? name : `${path}/${name}`, child)
    }
  } else if (entry.type === 'file') {
    const isNew = !(await workspace.exists(path))
    await workspace.write(path, entry.content)
    if (isNew && entry.permissions === undefined) await makeRunnable(workspace, path)
  }
  if (entry.permissions !== undefined) await setMode(workspace, path, entry.permissions)
}

/** Gives a new file the SDK's default mode, 0755, where the store keeps modes. */
async function makeRunnable(workspace: Workspace, path: string): Promise<void> {
  try {
    await workspace.chmod(path, 0o755)
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOTSUP')) throw error
  }
}

async function setMode(
  workspace: Workspace,
  path: string,
  permissions: NonNullable<Entry['permissions']>,
): Promise<void> {
  const { sticky, ...rest } = new Permissions(permissions)
  if (sticky) throw unsupported(`the sticky bit of \`${path}\``, 'it keeps permission bits only', 'leave it out')
  const { owner, group, other } = rest
  await workspace.chmod(path, (owner << 6) | (group << 3) | other)
}

/** Paths that an archive of the workspace leaves out. */
export async function unsavedPlaces(workspace: Workspace, manifest: Manifest): Promise<VirtualPath[]> {
  const places: VirtualPath[] = workspace.mounts.map(({ at }) => at).filter((at) => at !== workspace.root)
  for (const path of manifest.ephemeralPersistencePaths()) {
    try {
      places.push(await placeOf(workspace, path))
    } catch (error) {
      if (!isWorkspaceError(error)) throw error
    }
  }
  return places
}

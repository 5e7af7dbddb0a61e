import { type LandlockRule, sharedDevices, sharedProcFiles, systemTree } from '@ws/sandbox'
import type { VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'

const harmlessFiles = ['/etc/nsswitch.conf', '/etc/hosts', '/etc/resolv.conf', ...sharedProcFiles]

/**
 * The files that commands may read, run and write besides the workspace: the system's programs and a few files that
 * everybody has.
 */
export function systemRules(root: VirtualPath, owner: Owner): LandlockRule[] {
  const rules: LandlockRule[] = []
  for (const entry of systemTree({ root, owner })) {
    // Links lead to granted files; a file that is made up for a view (`/etc/passwd`) is not there.
    if (entry.kind === 'directory' || entry.kind === 'file')
      rules.push({ source: entry.source, access: ['read', 'execute'], optional: true })
  }
  for (const [name, access] of Object.entries(sharedDevices))
    rules.push({ source: `/dev/${name}`, access, optional: true })
  for (const source of harmlessFiles) rules.push({ source, access: ['read'], optional: true })
  return rules
}

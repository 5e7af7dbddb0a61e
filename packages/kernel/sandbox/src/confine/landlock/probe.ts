import { shortages } from '@ws/core/executor'
import { startProcess } from '../../run/start.ts'

import { confineArgv } from '../loader/confine.ts'
import type { LandlockProbe, LandlockRule } from '../types.ts'

// perl opens /dev/null before it runs a script from its command line.
const systemRules: readonly LandlockRule[] = ['/usr', '/bin', '/lib', '/lib64', '/dev/null'].map((source) => ({
  source,
  access: ['read', 'execute'],
  optional: true,
}))

// Call 444 with the flag VERSION returns the ABI. The script then tries to read a file that no rule grants.
const question = `my $abi = syscall(444, 0, 0, 1); print "$abi ", (open(my $f, '<', '/proc/self/status') ? 'leaks' : $! + 0), "\\n"`

/** Restricts a real process, which then tries to read. Takes 10 ms. @throws WorkspaceError on a shortage: Landlock must not be skipped */
export async function probeLandlock(
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<LandlockProbe> {
  try {
    const confined = confineArgv({ argv: ['/usr/bin/perl', '-e', question], landlock: { rules: systemRules } })
    const result = await startProcess({ ...confined, timeout: 5_000, signal: options.signal }).wait()
    const [abi = '0', seen = 'nothing'] = result.stdout.text.trim().split(' ')
    if (result.exitCode === 0 && seen === '13') return { available: true, abi: Number(abi), scopes: Number(abi) >= 6 }
    const shortage = shortages.inText(result.stderr.text)
    if (shortage !== undefined)
      throw shortages.refusal(shortage, { operation: 'probe', native: new Error(result.stderr.text) })
    return { available: false, abi: 0, scopes: false, reason: `a restricted process was not restricted (${seen})` }
  } catch (error) {
    if (shortages.of(error) !== undefined) throw error
    const reason = error instanceof Error ? error.message : String(error)
    return { available: false, abi: 0, scopes: false, reason }
  }
}

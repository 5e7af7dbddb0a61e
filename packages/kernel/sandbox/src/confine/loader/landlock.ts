import type { DescriptorSource } from '../../run/types.ts'

import type { LandlockAccess, LandlockPolicy, LandlockRule } from '../types.ts'
import type { Field } from './encode.ts'

// Bits of LANDLOCK_ACCESS_FS_*. MAKE_CHAR (6) and MAKE_BLOCK (11) are in no set: commands create no device nodes.
const rights: Readonly<Record<LandlockAccess, readonly number[]>> = {
  execute: [0], // EXECUTE
  read: [2, 3], // READ_FILE READ_DIR
  // WRITE_FILE REMOVE_DIR REMOVE_FILE MAKE_DIR MAKE_REG MAKE_SOCK MAKE_FIFO MAKE_SYM REFER TRUNCATE IOCTL_DEV
  write: [1, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15],
}

/** Returns the loader's orders for a policy. `allot` maps a descriptor of this process to a number in the loader. */
export function landlockFields(
  policy: LandlockPolicy | undefined,
  allot: (source: DescriptorSource) => number,
): Field[] {
  if (policy === undefined) return []
  const rule = ({ source, access, optional }: LandlockRule): Field => {
    const named = typeof source === 'string'
    return ['l', `${accessMask(access)},${optional ? 1 : 0},${named ? 0 : 1},${named ? source : allot(source.fd)}`]
  }
  return [
    ['landlock', 1],
    ['minimum_abi', policy.minimumAbi ?? 1],
    ['deny_tcp', policy.denyTcp ? 1 : 0],
    ...policy.rules.map(rule),
  ]
}

/** Returns the kernel's mask for a set of rights. The loader removes bits that the kernel does not support. */
function accessMask(access: readonly LandlockAccess[]): number {
  return access.flatMap((name) => rights[name]).reduce((mask, bit) => mask | (1 << bit), 0)
}

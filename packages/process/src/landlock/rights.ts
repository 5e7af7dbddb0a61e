import type { LandlockAccess } from './types.ts'

// Bits of LANDLOCK_ACCESS_FS_*. MAKE_CHAR (6) and MAKE_BLOCK (11) are granted by nothing: no device nodes.
const rights: Readonly<Record<LandlockAccess, readonly number[]>> = {
  execute: [0], // EXECUTE
  read: [2, 3], // READ_FILE READ_DIR
  // WRITE_FILE REMOVE_DIR REMOVE_FILE MAKE_DIR MAKE_REG MAKE_SOCK MAKE_FIFO MAKE_SYM REFER TRUNCATE IOCTL_DEV
  write: [1, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15],
}

/** The kernel's mask for a set of rights; the loader cuts it down to what the kernel knows. */
export function accessMask(access: readonly LandlockAccess[]): number {
  return access.flatMap((name) => rights[name]).reduce((mask, bit) => mask | (1 << bit), 0)
}

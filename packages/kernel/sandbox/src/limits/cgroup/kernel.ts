import { closeSync, constants, mkdirSync, openSync, rmdirSync, statfsSync, writeSync } from 'node:fs'

export interface CgroupKernel {
  isCgroup(path: string): boolean
  make(path: string): void
  remove(path: string): void
  write(path: string, text: string): void
}

const cgroup2Magic = 0x63_67_72_70

export const kernel: CgroupKernel = {
  isCgroup: (path) => statfsSync(path).type === cgroup2Magic,
  make: (path) => mkdirSync(path, 0o755),
  remove: (path) => rmdirSync(path),
  // Never creates a file: a missing file means that the kernel does not have the control.
  write(path, text) {
    const file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW)
    try {
      writeSync(file, text)
    } finally {
      closeSync(file)
    }
  },
}

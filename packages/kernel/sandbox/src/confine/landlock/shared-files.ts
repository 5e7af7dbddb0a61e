import type { LandlockRule } from '../types.ts'

/** The devices below `/dev` that every command gets, with their accesses. */
export const sharedDevices: Readonly<Record<string, LandlockRule['access']>> = {
  null: ['read', 'write'],
  zero: ['read', 'write'],
  full: ['read', 'write'],
  random: ['read'],
  urandom: ['read'],
  tty: ['read', 'write'],
}

/** The files of `/proc` that describe the machine instead of a process. */
export const sharedProcFiles = ['cpuinfo', 'filesystems', 'loadavg', 'meminfo', 'stat', 'uptime', 'version'].map(
  (name) => `/proc/${name}`,
)

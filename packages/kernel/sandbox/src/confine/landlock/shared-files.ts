import type { LandlockRule } from '../types.ts'

/** The devices below `/dev` that every command has, and the access to each. */
export const sharedDevices: Readonly<Record<string, LandlockRule['access']>> = {
  null: ['read', 'write'],
  zero: ['read', 'write'],
  full: ['read', 'write'],
  random: ['read'],
  urandom: ['read'],
  tty: ['read', 'write'],
}

/** The files of `/proc` that describe the machine and no process. */
export const sharedProcFiles = ['cpuinfo', 'filesystems', 'loadavg', 'meminfo', 'stat', 'uptime', 'version'].map(
  (name) => `/proc/${name}`,
)

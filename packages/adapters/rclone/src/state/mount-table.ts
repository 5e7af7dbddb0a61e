import { HostPaths } from '@ws/sandbox'

/** The topmost mount at a host path. Reads the mount table, which touches no mount and cannot hang. */
export function mountAt(path: string): HostPaths.MountEntry | undefined {
  const point = Buffer.from(path).toString('latin1')
  return HostPaths.parseMountTable(HostPaths.readMountInfo('self')).findLast((entry) => entry.point === point)
}

import { executorPackages, type OptionalName } from '../optional/packages.ts'
import type { StorageSettings } from '../storage/settings.ts'

const packagesOfStorage: Readonly<Record<StorageSettings['kind'], readonly OptionalName[]>> = {
  local: [],
  s3: ['@ws/adapter-s3'],
  r2: ['@ws/adapter-s3'],
  rclone: ['@ws/adapter-rclone'],
}

export interface Used {
  readonly mounts?:
    | readonly { readonly storage: Pick<StorageSettings, 'kind'> & { readonly replica?: string | undefined } }[]
    | undefined
  readonly executors?: readonly string[] | undefined
}

export function neededBy({ mounts = [], executors = [] }: Used): OptionalName[] {
  const names = mounts.flatMap(({ storage: { kind, replica } }): readonly OptionalName[] =>
    replica === undefined ? packagesOfStorage[kind] : [...packagesOfStorage[kind], '@ws/adapter-replica'],
  )
  return [...names, ...executorPackages.flatMap(([name, needed]) => (executors.includes(name) ? [needed] : []))]
}

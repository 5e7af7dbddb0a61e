import { WorkspaceError } from '@ws/core'
import { operations, type OperationFacts, type StorageAdapter } from '@ws/core/adapter'

const absent = Object.fromEntries(
  Object.values<OperationFacts>(operations).flatMap(({ capability }) =>
    capability === undefined ? [] : [[capability, false]],
  ),
)

/** The least that an adapter can be: no optional operation, and no conditions. For the tests of absence. */
export function without(adapter: StorageAdapter): StorageAdapter {
  const refuse = (operation: string, path: string, ...conditions: unknown[]): void => {
    if (conditions.every((condition) => condition === undefined)) return
    throw new WorkspaceError({ code: 'ENOTSUP', operation, path, reason: 'has no conditions' })
  }
  return {
    name: `without(${adapter.name})`,
    capabilities: {
      ...adapter.capabilities,
      ...absent,
      conditionalWrite: 'none',
      conditionalDelete: 'none',
      conditionalMove: 'none',
    },
    stat: (path, options) => adapter.stat(path, options),
    read: (path, options) => adapter.read(path, options),
    readStream: (path, options) => adapter.readStream(path, options),
    list: (path, options) => adapter.list(path, options),
    createDirectory: (path, options) => adapter.createDirectory(path, options),
    async write(path, data, options) {
      refuse('write', path, options?.ifVersion)
      return adapter.write(path, data, options)
    },
    async delete(path, options) {
      refuse('delete', path, options?.ifVersion)
      return adapter.delete(path, options)
    },
    async move(source, destination, options) {
      refuse('move', source, options?.ifSource, options?.ifDestination)
      return adapter.move(source, destination, options)
    },
    async copy(source, destination, options) {
      refuse('copy', source, options?.ifSource, options?.ifDestination)
      return adapter.copy(source, destination, options)
    },
    close: () => adapter.close(),
    [Symbol.asyncDispose]: () => adapter.close(),
  }
}

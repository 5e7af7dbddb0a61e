export {
  type BindSource,
  isOnSlowMount,
  offersExtendedAttributes,
  openBindSource,
  openBindSources,
  type WantedSource,
} from './bind-source.ts'
export { directoryOnTheWay, identityAt } from './host-way.ts'
export {
  doubtOwnMounts,
  isSlowType,
  type MountEntry,
  type OwnMounts,
  ownMounts,
  parseMountTable,
  readMountInfo,
} from './mount-table.ts'
export { stateHome } from './state-home.ts'

export { type HostEntry as Entry, HostList as List, parseHost as parse, readHosts as read } from './host-list.ts'
export { isName, normalName, unlistedHost as unlisted } from './host-list.ts'

export { baseName, childPath as child, isWithin, joinPath as join, parentPath as parent } from './virtual-path.ts'
export { parsePath as parse, parseVirtualPath as parseVirtual, relativeTo, rootPath as root } from './virtual-path.ts'
export { assertMountPath as assertMount, mountRoot, parseMountPath as parseMount, segmentsOf } from './virtual-path.ts'
export { maxNameBytes, maxPathBytes } from './virtual-path.ts'

// Builds the site into `.vitepress/dist`: the pages, the scripts of the playground, and the reference of the public doors below `api`.
import { join } from 'node:path'

import { build } from 'vitepress'

import { buildPlayground } from '../playground/build.ts'
import { goneNames } from './names.ts'
import { loadPages } from './pages.ts'
import { buildReference } from './reference.ts'

const root = join(import.meta.dirname, '..')
// a decision is dated, and names what was there then
const current = loadPages().filter(({ route }) => !route.startsWith('decisions/'))
const gone = current.flatMap(goneNames)
if (gone.length > 0) throw new Error(gone.join('\n'))
await build(root)
await buildPlayground(join(root, '.vitepress/dist/playground'))
await buildReference(join(root, '.vitepress/dist/api'))

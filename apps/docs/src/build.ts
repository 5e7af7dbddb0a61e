// Builds the site in `.vitepress/dist`: pages, playground scripts, and the reference of public entry points below `api`.
import { join } from 'node:path'

import { build } from 'vitepress'

import { buildPlayground } from '../playground/build.ts'
import { goneNames } from './names.ts'
import { loadPages } from './pages.ts'
import { buildReference } from './reference.ts'

const root = join(import.meta.dirname, '..')
// decisions are dated, and may contain names that were removed later
const current = loadPages().filter(({ route }) => !route.startsWith('decisions/'))
const gone = current.flatMap(goneNames)
if (gone.length > 0) throw new Error(gone.join('\n'))
await build(root)
await buildPlayground(join(root, '.vitepress/dist/playground'))
await buildReference(join(root, '.vitepress/dist/api'))

// Builds the site into `.vitepress/dist`: the pages, and the reference of the public doors below `api`.
import { join } from 'node:path'

import { build } from 'vitepress'

import { buildReference } from './reference.ts'

const root = join(import.meta.dirname, '..')
await build(root)
await buildReference(join(root, '.vitepress/dist/api'))

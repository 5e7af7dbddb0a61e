// Builds the site into `.vitepress/dist`: the pages, the scripts of the playground, and the reference of the public doors below `api`.
import { join } from 'node:path'

import { build } from 'vitepress'

import { buildPlayground } from '../playground/build.ts'
import { buildReference } from './reference.ts'

const root = join(import.meta.dirname, '..')
await build(root)
await buildPlayground(join(root, '.vitepress/dist/playground'))
await buildReference(join(root, '.vitepress/dist/api'))

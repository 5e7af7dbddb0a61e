/** @module-tag all */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { textPdf } from '@ws/test-fixtures/pdf'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const here = join(import.meta.dirname, '..')
// Inside the package, where its dependencies are found. Ignored by git.
const reports = join(here, '.test-report')

describe('the built package', () => {
  let directory = ''

  beforeAll(async () => {
    await mkdir(reports, { recursive: true })
    directory = await mkdtemp(join(reports, 'packaged-'))
    for (const name of ['src', 'package.json']) {
      await cp(join(here, name), join(directory, name), { recursive: true })
    }
    await run(process.execPath, [join(here, '../../../scripts/bundle.ts'), directory])
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  it('finds its thread, the PDF reader and the grammars', async () => {
    await writeFile(join(directory, 'a.pdf'), textPdf(['hello']))
    const script = `
      import { readFile } from 'node:fs/promises'
      import { openDocuments } from '${join(directory, 'dist/index.js')}'
      await using documents = openDocuments()
      const { pages } = await documents.pdfPages(await readFile('${join(directory, 'a.pdf')}'))
      const read = []
      for (const language of ['python', 'typescript', 'tsx', 'javascript']) {
        const source = language === 'python' ? 'def f(): pass' : 'function f() {}'
        read.push((await documents.signatures(source, { language })).method)
      }
      console.log(JSON.stringify({ pages, read }))
    `
    // The core is not built for tests: it alone is read as a source.
    const flags = ['--conditions=@ws/source', '--no-warnings', '--input-type=module', '--eval', script]
    const { stdout } = await run(process.execPath, flags, { cwd: directory })
    expect(JSON.parse(stdout)).toEqual({
      pages: [{ number: 1, text: 'hello' }],
      read: ['parser', 'parser', 'parser', 'parser'],
    })
  })

  it('[FS12] reads signatures by patterns without the parser, and names its package', async () => {
    const script = `
      import { registerHooks } from 'node:module'
      registerHooks({
        resolve(name, context, next) {
          if (name !== '@vscode/tree-sitter-wasm') return next(name, context)
          throw Object.assign(new Error(), { code: 'ERR_MODULE_NOT_FOUND' })
        },
      })
      const { readSignatures } = await import('${join(directory, 'dist/read-signatures.js')}')
      const request = { source: 'def f(): pass', language: 'python', parseTime: 1000 }
      const { signatures, method, missing } = await readSignatures(request)
      console.log(JSON.stringify({ texts: signatures.map(({ text }) => text), method, missing }))
    `
    const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '--eval', script])
    expect(JSON.parse(stdout)).toEqual({
      texts: ['def f(): pass'],
      method: 'patterns',
      missing: '@vscode/tree-sitter-wasm',
    })
  })
})

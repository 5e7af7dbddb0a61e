import { describeWith } from '@ws/test-fixtures'
import { officeFile } from '@ws/test-fixtures/zip'
import { openSite, sites } from '@ws/tests-support/bridges'
import { createTools, type ToolsOptions } from '@ws/tools'
import { expect, it } from 'vitest'

const documents = { 'a.docx': officeFile('docx'), 'b.xlsx': officeFile('xlsx'), 'c.pptx': officeFile('pptx') }
const pandoc =
  '#!/bin/sh\ncase $1 in --list-input-formats) printf "docx\\nmarkdown\\npptx\\n";; *) echo "read $*";; esac\n'
const python = '#!/bin/sh\ncase "$*" in *openpyxl*) echo python;; esac\n'
const [virtual, bubblewrap] = sites

async function open(programs: Record<string, string>, options: ToolsOptions = {}, site = bubblewrap) {
  if (site === undefined) throw new Error('there is no such site')
  const files = Object.fromEntries(Object.entries(programs).map(([name, text]) => [`bin/${name}`, text]))
  const at = site.at === '/' ? '' : site.at
  const workspace = await openSite(
    site,
    { ...documents, ...files },
    { commands: { env: { PATH: `${at}/bin:/usr/bin:/bin` } } },
  )
  if (site.processes) for (const name of Object.keys(files)) await workspace.chmod(name, 0o755)
  const tools = createTools(workspace, { face: 'split', ...options })
  return { at, read: (path: string) => tools.run('read', { path }), run: tools.run.bind(tools) }
}

describeWith(bubblewrap?.needs ?? [], 'an office document where commands run real programs', { tags: 'all' }, () => {
  it('[FS2] is named with `pandoc`, if that reads the kind, and the next call converts it', async () => {
    const { read, run, at } = await open({ pandoc, python3: python })
    const word = await read('a.docx')
    expect(word).toMatchObject({ isError: true, data: { code: 'EINVAL', path: `${at}/a.docx` } })
    expect(word.text).toContain(
      `\`${at}/a.docx\` is a Word document (docx, ${documents['a.docx'].length} bytes), which has no text to read. Convert it with \`pandoc\`, which commands have.`,
    )
    expect(word.next).toEqual({
      tool: 'execute',
      arguments: { command: `pandoc -f docx -t markdown ${at}/a.docx` },
    })
    const converted = await run(word.next?.tool ?? '', word.next?.arguments)
    expect(converted.text).toContain(`read -f docx -t markdown ${at}/a.docx`)
    expect((await read('c.pptx')).text).toContain('is a PowerPoint presentation (pptx,')
  })

  it('[FS2] is named with a Python package where `pandoc` does not read the kind', async () => {
    const { read } = await open({ pandoc, python3: python })
    expect((await read('b.xlsx')).text).toContain(
      'which has no text to read. Read it in a command, with the Python package `openpyxl`, which is installed.',
    )
  })

  it.each<[string, Record<string, string>, ToolsOptions]>([
    ['without such a program', { python3: '#!/bin/sh\nexit 1\n' }, {}],
    ['where the model runs no commands', { pandoc }, { commands: false }],
  ])('[FS2] is named without a program %s', async (_, programs, options) => {
    const { read } = await open(programs, options)
    const { text } = await read('a.docx')
    expect(text).toContain('is a Word document')
    expect(text).not.toMatch(/pandoc|[Pp]ython/u)
  })
})

it('[FS2] is named without a program where an interpreter runs the commands', async () => {
  const { read } = await open({ pandoc }, {}, virtual)
  const { text, next } = await read('a.docx')
  expect(text).toContain('is a Word document (docx,')
  expect(text).not.toContain('pandoc')
  expect(next).toEqual({ tool: 'inspect', arguments: { path: '/a.docx' } })
})

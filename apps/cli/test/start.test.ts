import { describe, expect, it } from 'vitest'

import { createProject, wsProcess } from './ws.ts'

/** Prints the folders of the packages that were loaded, as the last line of standard error. */
const watch = `
  import { registerHooks } from 'node:module'
  const loaded = new Set()
  registerHooks({ load: (url, context, next) => {
    const [, name] = /[/]((?:packages|apps)[/].+?)[/]src[/]/.exec(url) ?? []
    if (name !== undefined && !url.endsWith('/face-names.ts')) loaded.add(name)
    return next(url, context)
  } })
  process.on('exit', () => process.stderr.write([...loaded].sort().join(' ')))`

const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}` }

describe('ws loads the packages that a command needs, and no others', () => {
  it('for a command that opens nothing', async () => {
    expect(await wsProcess(['--help'], { env })).toMatchObject({ code: 0, stderr: 'apps/cli packages/kernel/core' })
  })

  it('for files of a directory', async () => {
    await using project = await createProject({ 'a.txt': 'a' })
    const { stdout, stderr } = await wsProcess(['--root', project.path, 'ls'], { env })
    expect({ stdout, stderr }).toEqual({
      stdout: 'a.txt\n',
      stderr:
        'apps/cli packages/adapters/local packages/kernel/core packages/kernel/sandbox packages/kernel/text-search',
    })
  })
})

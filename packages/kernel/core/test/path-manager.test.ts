import { describe, expect, it } from 'vitest'

import { isWorkspaceError } from '../src/errors.ts'
import { createPathManager, type PathManager } from '../src/policy/path-manager.ts'
import { resolvePathManagerOptions, type PathManagerOptions } from '../src/policy/path-manager-options.ts'

const nested = () => createPathManager({ workspace: '/project', output: '/project/out' })
const disjoint = () => createPathManager({ workspace: '/project', output: '/results' })

const thrownBy = (action: () => unknown): unknown => {
  try {
    action()
  } catch (error) {
    return error
  }
  return undefined
}

describe('configuration', () => {
  const file = { workspace: '/file/ws', templates: { app_path: '/file/app', prompt_path: '/file/prompts' } }
  const defaults = { workspace: '/default/ws', output: '/default/out', templates: { project_path: '/default/project' } }

  it('[PM1] flags go over the file, the file over the defaults, field by field', () => {
    const options = resolvePathManagerOptions({
      flags: {
        workspace: undefined,
        output: '/flag/out',
        templates: { app_path: '/flag/app', prompt_path: undefined },
      },
      file,
      defaults,
    })
    expect(options).toMatchObject({
      workspace: '/file/ws',
      output: '/flag/out',
      templates: { app_path: '/flag/app', prompt_path: '/file/prompts', project_path: '/default/project' },
    })
  })

  it('[PM1] a directory that no source names is an error that says how to give it', () => {
    expect(() => resolvePathManagerOptions({ flags: { workspace: '/w' } })).toThrow(
      expect.objectContaining({ code: 'EINVAL', message: expect.stringMatching(/no output directory.*flag/) }),
    )
  })

  it.each([
    ['a relative workspace', { workspace: 'w', output: '/o' }],
    ['an empty output', { workspace: '/w', output: '' }],
    ['a NUL', { workspace: '/w', output: '/o\0' }],
    ['a template of another name', { workspace: '/w', output: '/o', templates: { home_path: '/h' } }],
    ['a template for a root', { workspace: '/w', output: '/o', templates: { output_path: '/h' } }],
    ['a relative template', { workspace: '/w', output: '/o', templates: { app_path: 'app' } }],
    ['no options', undefined],
    ['exceptions that are no list', { workspace: '/w', output: '/o', exceptions: {} }],
    ['an exception that is none', { workspace: '/w', output: '/o', exceptions: [null] }],
    ['templates that are none', { workspace: '/w', output: '/o', templates: 'app' }],
    ['a realpath that cannot be called', { workspace: '/w', output: '/o', realpath: true }],
  ])('[PM1] %s is refused before anything can be resolved', (_, options) => {
    expect(() => createPathManager(options as unknown as PathManagerOptions)).toThrow(
      expect.objectContaining({ code: 'EINVAL', operation: 'createPathManager' }),
    )
  })

  it('[PM1] two instances know nothing of one another', () => {
    const [one, two] = [createPathManager({ workspace: '/a', output: '/b' }), disjoint()]
    expect([one.isWithinWorkspace('/a/x'), two.isWithinWorkspace('/a/x')]).toEqual([true, false])
  })
})

describe('predicates', () => {
  it('[PM2] equal or below is true, everything else is false', () => {
    const manager = nested()
    const paths = ['/project', '/project/', '/project/out', '/project/out/a', '/projects', '/project2/a', '/', '/other']
    expect(paths.map((path) => [path, manager.isWithinWorkspace(path), manager.isWithinOutput(path)])).toEqual([
      ['/project', true, false],
      ['/project/', true, false],
      ['/project/out', true, true],
      ['/project/out/a', true, true],
      ['/projects', false, false],
      ['/project2/a', false, false],
      ['/', false, false],
      ['/other', false, false],
    ])
  })

  it('[PM2] `.`, `..` and repeated slashes are resolved before the judgement', () => {
    const manager = nested()
    expect(manager.isWithinWorkspace('/other/../project//a/.')).toBe(true)
    expect(manager.isWithinWorkspace('/project/../other')).toBe(false)
    expect(manager.isWithinOutput('/project/out/../a')).toBe(false)
    expect(manager.isWithinWorkspace('/../../project')).toBe(true)
  })

  it('[PM2] invalid input is false and never throws', () => {
    const manager = nested()
    const inputs: unknown[] = [undefined, null, 7, {}, [], Symbol('s'), '/project/\0', '/project/\ud800', ['/project']]
    for (const input of inputs) {
      expect(manager.isWithinWorkspace(input as string)).toBe(false)
      expect(manager.isWithinOutput(input as string)).toBe(false)
    }
  })

  it.each(['C:\\out\\a', 'c:/out', '\\out', '\\\\host\\share', '\\\\?\\C:\\out'])(
    '[PM1, PM2, PM4] the Windows path %s is refused with the remedy, as a root and as a path',
    (path) => {
      const manager = createPathManager({ workspace: process.cwd(), output: process.cwd() })
      const exceptions = [{ name: 'x', path, justification: 'j' }]
      for (const refused of [
        () => createPathManager({ workspace: path, output: '/o' }),
        () => createPathManager({ workspace: '/w', output: '/o', templates: { app_path: path } }),
        () => createPathManager({ workspace: '/w', output: '/o', exceptions }),
        () => manager.resolveRead(path),
        () => manager.resolveWrite(path),
      ]) {
        expect(refused).toThrow(
          expect.objectContaining({ code: 'EINVAL', message: expect.stringMatching(/Windows|POSIX/) }),
        )
      }
      expect([manager.isWithinWorkspace(path), manager.isWithinOutput(path)]).toEqual([false, false])
      expect(manager.resolveRead(`./${path}`)).toBe(`${process.cwd()}/${path.replaceAll(/\/+/g, '/')}`)
    },
  )

  it('[PM4] a `file:` URL of a drive of Windows is refused', () => {
    expect(() => disjoint().resolveRead(new URL('file:///C:/project/a'))).toThrow(/is a Windows path; .*WSL 2/)
    expect(disjoint().isWithinWorkspace(new URL('file:///C:/project'))).toBe(false)
  })

  it('[PM2] a relative path is taken from the working directory, as `fs` would take it', () => {
    const here = createPathManager({ workspace: process.cwd(), output: '/results' })
    expect([here.isWithinWorkspace('a/b'), here.isWithinWorkspace('../b'), disjoint().isWithinWorkspace('a')]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('[PM2, PM4] a `file:` URL counts as its path, and other URLs are refused by name', () => {
    const manager = disjoint()
    expect([manager.workspacePath, manager.outputPath]).toEqual(['/project', '/results'])
    expect(manager.isWithinWorkspace(new URL('file:///project/a%20b'))).toBe(true)
    expect(manager.isWithinWorkspace(new URL('file:///project/../etc'))).toBe(false)
    expect(manager.isWithinOutput(new URL('file:///results'))).toBe(true)
    expect(manager.resolveRead(new URL('file:///project/a%20b'))).toBe('/project/a b')
    expect(() => manager.resolveRead(new URL('file:///etc/passwd'))).toThrow(
      expect.objectContaining({ code: 'EACCES' }),
    )
    const refused: [string | URL, RegExp][] = [
      [new URL('https://example.com/project/a'), /scheme `https:`/u],
      [new URL('file://host/project/a'), /another machine/u],
      [new URL('file:///project/a%2Fb'), /escaped slash/u],
      [new URL('file:///project/%ff'), /not UTF-8/u],
      [new URL('file:///project/a?b'), /query/u],
      ['file:///project/a', /text of a URL/u],
    ]
    for (const [url, reason] of refused) {
      expect(manager.isWithinWorkspace(url), String(url)).toBe(false)
      for (const resolve of [manager.resolveRead, manager.resolveWrite]) {
        expect(() => resolve(url), String(url)).toThrow(
          expect.objectContaining({ code: 'EINVAL', reason: expect.stringMatching(reason) as unknown }),
        )
      }
    }
  })

  it('[PM2] the root of the file system can be the workspace, as in virtual paths', () => {
    const manager = createPathManager({ workspace: '/', output: '/out' })
    expect(['/', '/a', '/out/b'].every((path) => manager.isWithinWorkspace(path))).toBe(true)
    expect([manager.isWithinOutput('/a'), manager.isWithinOutput('/out')]).toEqual([false, true])
  })
})

describe('resolving', () => {
  it('[PM4] reads are taken from the workspace, writes from the output', () => {
    const manager = disjoint()
    expect(manager.resolveRead('src/a.ts')).toBe('/project/src/a.ts')
    expect(manager.resolveWrite('report.md')).toBe('/results/report.md')
    expect(manager.resolveRead('/project/b')).toBe('/project/b')
    expect(manager.resolveWrite('/results/b')).toBe('/results/b')
    expect([manager.resolveRead('.'), manager.resolveWrite('.')]).toEqual(['/project', '/results'])
  })

  it('[PC11, PM4] a refused read and a refused write throw the same type, with a remedy', () => {
    const manager = disjoint()
    const errors = [() => manager.resolveRead('/etc/passwd'), () => manager.resolveWrite('/etc/passwd')].map(thrownBy)
    for (const error of errors) {
      expect(isWorkspaceError(error, 'EACCES')).toBe(true)
      expect(error).toMatchObject({
        path: '/etc/passwd',
        remedy: expect.stringMatching(/below the (workspace|output)/),
      })
    }
    expect(errors.map((error) => isWorkspaceError(error) && error.rule)).toEqual(['withinWorkspace', 'withinOutput'])
  })

  it('[PM4] climbing out of a base is EOUTSIDE; a path that comes back in is fine', () => {
    const manager = disjoint()
    expect(() => manager.resolveRead('../secret')).toThrow(expect.objectContaining({ code: 'EOUTSIDE' }))
    expect(() => manager.resolveWrite('a/../../secret')).toThrow(expect.objectContaining({ code: 'EOUTSIDE' }))
    expect(manager.resolveRead('../project/a')).toBe('/project/a')
  })

  it('[PM4] what is no path is EINVAL', () => {
    for (const input of [undefined, null, 3, 'a\0b', '\udc00']) {
      expect(() => nested().resolveRead(input as string)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
      expect(() => nested().resolveWrite(input as string)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
    }
  })

  it('[PM4] a message names what the caller gave, and not the directories behind it', () => {
    const manager = createPathManager({ workspace: '/hidden/project', output: '/hidden/results' })
    const attempts = [
      () => manager.resolveRead('../x'),
      () => manager.resolveWrite('/etc/x'),
      () => manager.resolveWrite('{workspace_path}/x'),
    ]
    for (const error of attempts.map(thrownBy)) expect(JSON.stringify(error)).not.toContain('hidden')
    expect(thrownBy(() => manager.resolveWrite('{workspace_path}/x'))).toMatchObject({ path: '{workspace_path}/x' })
  })

  it("[PM8] the output root's own name in front of a path to write is taken off, once", () => {
    const manager = createPathManager({ workspace: '/project', output: '/project/output' })
    const expected = {
      'output/a': '/project/output/a',
      './output//a': '/project/output/a',
      'output/output/a': '/project/output/output/a',
      output: '/project/output',
      'outputs/a': '/project/output/outputs/a',
      'a/output': '/project/output/a/output',
      '/project/output/output/a': '/project/output/output/a',
    }
    for (const [given, resolved] of Object.entries(expected)) expect(manager.resolveWrite(given)).toBe(resolved)
    expect(manager.resolveRead('output/a')).toBe('/project/output/a')
    expect(() => manager.resolveWrite('output/../escape')).toThrow(expect.objectContaining({ code: 'EOUTSIDE' }))
  })

  it('[PM9] with disjoint roots, reading from the output and writing to the workspace are denied', () => {
    const manager = disjoint()
    expect(() => manager.resolveRead('/results/a')).toThrow(expect.objectContaining({ code: 'EACCES' }))
    expect(() => manager.resolveRead('{output_path}/a')).toThrow(expect.objectContaining({ code: 'EACCES' }))
    expect(() => manager.resolveWrite('/project/a')).toThrow(expect.objectContaining({ code: 'EACCES' }))
    expect(nested().resolveRead('/project/out/a')).toBe('/project/out/a')
  })
})

describe('templates', () => {
  const manager = createPathManager({
    workspace: '/project',
    output: '/results',
    templates: { app_path: '/app', project_path: '/project', prompt_path: '/project/{app_path}' },
  })

  it('[PM7] the five templates are filled in, wherever a path is taken', () => {
    expect(manager.expandTemplates('{app_path} {project_path} {output_path} {workspace_path}')).toBe(
      '/app /project /results /project',
    )
    expect(manager.resolveRead('{workspace_path}/a')).toBe('/project/a')
    expect(manager.resolveWrite('{output_path}/a')).toBe('/results/a')
    expect(manager.isWithinOutput('{output_path}')).toBe(true)
    expect(manager.isWithinWorkspace('{app_path}/x')).toBe(false)
  })

  it('[PM7] an unknown template stays as it is, and so does one without a value', () => {
    expect(manager.expandTemplates('{home_path}/{ app_path }/{}/{APP_PATH}')).toBe(
      '{home_path}/{ app_path }/{}/{APP_PATH}',
    )
    expect(disjoint().resolveRead('{app_path}/x')).toBe('/project/{app_path}/x')
    expect(disjoint().expandTemplates('{constructor}{__proto__}')).toBe('{constructor}{__proto__}')
  })

  it('[PM7] what a template stands for is not expanded again, and `$` in it means nothing', () => {
    expect(manager.expandTemplates('{prompt_path}')).toBe('/project/{app_path}')
    const odd = createPathManager({ workspace: "/a$&$'", output: '/o' })
    expect(odd.resolveRead('{workspace_path}/x')).toBe("/a$&$'/x")
  })
})

describe('exceptions', () => {
  const cache = { name: 'cache', path: '.cache', justification: 'the index is kept beside the sources' }
  const exceptions = [cache]
  const withCache = (): PathManager => createPathManager({ workspace: '/project', output: '/results', exceptions })

  it('[PM5] the workspace is written only by a call that names a documented exception', () => {
    const manager = withCache()
    expect(() => manager.resolveWrite('/project/.cache/x')).toThrow(expect.objectContaining({ code: 'EACCES' }))
    expect(manager.resolveWrite('.cache/x', { exception: 'cache' })).toBe('/project/.cache/x')
    expect(manager.resolveWrite('/project/.cache', { exception: 'cache' })).toBe('/project/.cache')
    expect(manager.exceptions).toEqual(exceptions)
    expect(manager.isWithinOutput('/project/.cache')).toBe(false)
  })

  it.each(['src/a', '.cache/../src', '/project/.cache2/x', '/results/x', '../x'])(
    '[PM5] an exception opens its own part only: %s',
    (path) => {
      expect(() => withCache().resolveWrite(path, { exception: 'cache' })).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^(EACCES|EOUTSIDE)$/) }),
      )
    },
  )

  it('[PM5] an exception needs a name, a justification and a place in the workspace', () => {
    const make = (exception: object) => () =>
      createPathManager({
        workspace: '/project',
        output: '/results',
        exceptions: [{ ...cache, ...exception }],
      })
    for (const wrong of [{ name: ' ' }, { justification: '' }, { path: '/etc' }, { path: '../x' }, { path: 3 }]) {
      expect(make(wrong)).toThrow(expect.objectContaining({ code: 'EINVAL', operation: 'createPathManager' }))
    }
    expect(() => withCache().resolveWrite('a', { exception: 'other' })).toThrow(
      expect.objectContaining({ code: 'EINVAL', message: expect.stringContaining('`other`') }),
    )
  })
})

/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { storesBeside } from '@ws/conformance'
import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { atRoots, component, describeWith, onDisk } from '@ws/test-fixtures'

import { createSanitizeExecutor } from '../src/index.ts'

// Programs are trusted: what is refused then is refused for what the command says.
const executors = [
  {
    name: 'sanitize',
    tags: [],
    needs: ['perl', 'landlock'],
    roots: ['/', '/workspace'],
    executor: createSanitizeExecutor({ trustPrograms: 'all' }),
  },
  {
    name: 'sanitize without Landlock',
    tags: ['deep'],
    needs: ['perl'],
    roots: ['/workspace'],
    executor: createSanitizeExecutor({ trustPrograms: 'all', landlock: 'off' }),
  },
] as const

for (const { name, tags, needs, roots, executor } of executors) {
  describeWith(needs.map(component), name, { tags: [...tags] }, () => {
    const create = () => onDisk(executor, createLocalAdapter, storesBeside)
    const refusesCommands = true

    atRoots('/workspace', (roots) =>
      testExecutor({
        name,
        create,
        roots,
        refusesCommands,
        departures: {
          '[PC24] a command longer than an argument can be runs all the same':
            'the command is an argument of the shell',
          'a login shell reads its start-up file, another does not': '[X8] there are no start-up files',
          '[PC8, RP9] says where and who: PWD, HOME, USER': '`$(pwd)` is refused',
          'of one command is nothing to the next, nor are its variables': '`export` is refused',
          'a timeout ends a command that is deaf to polite signals, after the grace': '`trap` is refused',
          'a timeout ends everything that the command started': '`trap` is refused',
          'nothing that the command started survives its normal end': 'a loop is refused',
          'kill passes a signal on, which the command can handle': '`trap` is refused',
          'is text, bytes or chunks, and comes whole': '`read` is refused',
          'is in the order in which it came': '`read` is refused',
          'reaches the command at once': 'a loop is refused',
          'waits for a command that does not read': 'a loop is refused',
        },
      }),
    )
    testWorkspace({
      name,
      create,
      roots,
      refusesCommands,
      departures: {
        '[RP17] a read-only mount is there at both doors': 'a walk over a mount is refused',
        '[PC14] skills are there without links, as a mount': '`set` is refused',
        'of links inside lead where they say, absolute targets in the workspace too':
          'a link whose target is absolute leads to this machine, and is refused',
      },
    })
  })
}

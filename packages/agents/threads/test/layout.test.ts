import { createMemoryAdapter } from '@ws/adapter-memory'
import { paths } from '@ws/core'
import { createThreads } from '@ws/threads'
import { bucketName, checkLayout } from '../src/layout/layout.ts'
import { describe, expect, it } from 'vitest'

describe('a layout', () => {
  it('[RP1] has the documented defaults', () => {
    const layout = checkLayout()
    expect(layout).toEqual({
      bucket: 'solven-{env}',
      systemSkills: 'skills/system',
      userSkills: 'skills/{user_id}',
      threads: 'threads/{thread_id}',
      tickets: 'threads/{ticket_id}',
      control: '.ws',
    })
    expect(bucketName(layout, 'testing')).toBe('solven-testing')
    expect(bucketName(layout, '$&')).toBe('solven-$&')
  })

  it('can be another', async () => {
    const store = createMemoryAdapter({ files: { '/s/all/a/SKILL.md': '---\ndescription: A.\n---\n' } })
    const layout = {
      systemSkills: 's/all',
      userSkills: 's/users/{user_id}',
      threads: 't/{thread_id}/home',
      tickets: 'k/{ticket_id}',
    }
    await using threads = await createThreads({ store, layout, provision: false })
    const thread = await threads.open({ threadId: 't1', userId: 'u1' })
    await thread.workspace.write('/a', 'x')
    expect((await store.stat(paths.parseMount('/t/t1/home/a'))).type).toBe('file')
    expect(await Array.fromAsync(threads.list())).toEqual(['t1'])
    expect((await thread.listSkills()).skills.map(({ name }) => name)).toEqual(['a'])
  })

  it.each([
    ['threads in the skills', { threads: 'skills/{thread_id}' }, 'threads', 'overlaps'],
    ['threads in the system skills', { threads: 'skills/system/{thread_id}' }, 'threads', 'overlaps'],
    ['tickets above the threads', { tickets: '{ticket_id}' }, 'tickets', 'overlaps'],
    ['a control directory among the threads', { control: 'threads' }, 'control', 'overlaps'],
    ['names that differ in case only', { systemSkills: 'Threads' }, 'threads', 'overlaps'],
    ['a path that climbs', { threads: '../{thread_id}' }, 'threads', 'must be a path of plain names'],
    ['an absolute path', { threads: '/threads/{thread_id}' }, 'threads', 'must be a path of plain names'],
    ['no place for the id', { threads: 'threads' }, 'threads', 'must hold `{thread_id}` once'],
    ['an id twice', { threads: '{thread_id}/{thread_id}' }, 'threads', 'must hold `{thread_id}` once'],
    ['an id as a part of a name', { threads: 'threads/t-{thread_id}' }, 'threads', 'must be a path of plain names'],
    ['the id of another', { threads: 'threads/{user_id}' }, 'threads', 'must be a path of plain names'],
    ['a part that is not known', { thread: 'x' }, 'thread', 'is not an option'],
    ['a number', { threads: 7 }, 'threads', ''],
  ])('is refused with %s', (_, layout, name, words) => {
    let error: unknown
    try {
      checkLayout(layout)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ code: 'EINVAL', operation: 'createThreads' })
    expect(String((error as Error).message)).toContain(`\`layout.${name}\``)
    expect(String((error as Error).message)).toContain(words)
  })
})

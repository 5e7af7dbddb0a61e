import { createVirtualExecutor } from '@ws/executor-virtual'
import { ordinaryOwner } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { showFaces } from '../../src/demo/faces.ts'
import { createProject } from '../../src/demo/project.ts'
import { createStyle } from '../../src/terminal/style.ts'

it('shows a model that changes one project through three forms of the tools, and follows what errors offer', async () => {
  await using project = await createProject(ordinaryOwner())
  const said: string[] = []
  const style = createStyle(process.stdout, { NO_COLOR: '1' })
  const worked = await showFaces(project, {
    executor: createVirtualExecutor(),
    style,
    say: (line) => void said.push(line),
  })
  expect(worked, said.join('\n')).toBe(true)
  const text = said.join('\n')
  expect(text).toContain('file_system changed: updated /README.md')
  expect(text).toContain('claude-code changed: updated /README.md, executed /')
  expect(text).toContain('openai changed: updated /src/words.js, executed /')
})

import { release } from '../confine/handle.ts'
import { nameOf, openParent } from '../confine/open.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { contractFailure, failure, nativeCode, translate } from '../errors.ts'
import { decodeName, under } from '../host/name.ts'
import { creationStart, giveNew } from './give.ts'

export async function createSymlinkAt(task: Task, linkTarget: string): Promise<void> {
  const target = targetOf(task, task.path)
  if (target.path === '/') throw contractFailure(target, 'EEXIST')
  const parent = await openParent(task, target)
  try {
    const start = creationStart()
    await task.calls.symlink(linkTarget, under(parent.self, nameOf(target)))
    await giveNew(task, parent, nameOf(target), start, 'symlink')
  } catch (error) {
    throw translate(error, target)
  } finally {
    await release(task, parent)
  }
}

export async function readSymlinkAt(task: Task): Promise<string> {
  const target = targetOf(task, task.path)
  if (target.path === '/') throw notALink(task)
  const parent = await openParent(task, target)
  try {
    const bytes = await task.calls.readlink(under(parent.self, nameOf(target)))
    const text = decodeName(bytes)
    if (text !== undefined) return text
    throw failure(task, 'EINVAL', 'is a link whose target is not valid UTF-8')
  } catch (error) {
    throw nativeCode(error) === 'EINVAL' ? notALink(task) : translate(error, target)
  } finally {
    await release(task, parent)
  }
}

function notALink(task: Task): Error {
  return contractFailure(task, 'notALink')
}

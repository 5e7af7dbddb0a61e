import { UserError } from '@openai/agents-core'
import { imageOutputFromBytes, MAX_VIEW_IMAGE_BYTES } from '@openai/agents-core/sandbox/internal'
import type { ToolOutputImage } from '@openai/agents-core'
import { isWorkspaceError } from '@ws/core'
import type { ErrorCode, Workspace } from '@ws/core'

/** The words by which the tool `view_image` knows a fault. */
const knownFaults: Readonly<Partial<Record<ErrorCode, string>>> = {
  ENOENT: 'Image file not found',
  ENOTDIR: 'Image file not found',
  EISDIR: 'Image path is not a file',
  EFBIG: 'Image file exceeds the 10 MB limit',
}

/** @throws UserError in the words that the tool `view_image` knows; of any other fault it shows the model only the name */
export async function readImage(workspace: Workspace, path: string, asked: string): Promise<ToolOutputImage> {
  try {
    const { bytes } = await workspace.read(path, { maxBytes: MAX_VIEW_IMAGE_BYTES })
    return imageOutputFromBytes(asked, bytes)
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    const known = knownFaults[error.code]
    if (known !== undefined) throw new UserError(`${known}: ${asked}`)
    const refusal = new UserError(error.message)
    refusal.name = error.message
    throw refusal
  }
}

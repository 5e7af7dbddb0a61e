import { z } from 'zod'

// Operations share these definitions, as `file_system` shows all fields in one flat object.

export const path = z.string().min(1).describe('Path in the workspace, such as /src/app.ts')
export const directory = z.string().min(1).optional().describe('Directory or file. Default: the root')
export const from = z.string().min(1).describe('Path of the entry')
export const to = z.string().min(1).describe('New path; nothing may be there')
export const limit = z.int().min(1).max(100_000).optional().describe('Most lines, files or matches to give')
export const hidden = z.boolean().optional().describe('Also dotfiles')
export const ignored = z.boolean().optional().describe('Also ignored files')
export const recursive = z.boolean().optional().describe('Also delete everything below a directory. Default false')
export const ifVersion = z.string().min(1).optional().describe('Only when the file still has this version')

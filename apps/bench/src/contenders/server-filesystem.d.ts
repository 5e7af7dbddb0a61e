/** The part that is driven; the package has no types of its own. */
declare module '@modelcontextprotocol/server-filesystem/dist/lib.js' {
  export function setAllowedDirectories(directories: string[]): void
  export function validatePath(path: string): Promise<string>
  export function readFileContent(path: string): Promise<string>
  export function getFileStats(path: string): Promise<unknown>
  export function writeFileContent(path: string, content: string): Promise<void>
  export function searchFilesWithValidation(
    root: string,
    pattern: string,
    allowed: string[],
    options: object,
  ): Promise<string[]>
}

import { describe, it } from 'vitest'

interface Context {
  readonly skip: (reason: string) => never
}

/** A runner of `@ws/conformance`. */
interface KitRunner {
  readonly describe: (title: string, define: () => void) => void
  readonly it: (title: string, test: (context: Context) => Promise<void>) => void
}

/** A runner of the kit in vitest that leaves all but the groups with these titles to the tier `all`. */
export const tagsAllBut = (...groups: readonly string[]): KitRunner => runnerOf(groups, { tags: ['all'] })

/** A runner of the kit in vitest that defines the groups with these titles alone. */
export const onlyGroups = (...groups: readonly string[]): KitRunner => runnerOf(groups, undefined)

function runnerOf(groups: readonly string[], rest: { readonly tags: 'all'[] } | undefined): KitRunner {
  let depth = 0
  return {
    describe(title, define) {
      describe(title, () => {
        const by = groups.includes(title) ? 1 : 0
        depth += by
        define()
        depth -= by
      })
    },
    it(title, test) {
      const options = depth > 0 ? {} : rest
      if (options !== undefined) it(title, options, (context) => test({ skip: (reason) => context.skip(reason) }))
    },
  }
}

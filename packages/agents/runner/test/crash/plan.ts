/** Steps in rows of three: each needs a step of the row before it. */
export const crashPlanOf = (length: number) => ({
  version: 1,
  concurrency: 3,
  steps: Array.from({ length }, (_, index) => ({
    id: `s${index}`,
    type: 'work',
    with: { name: `d${index}`, files: 1 + (index % 5) },
    outputs: [`d${index}`],
    needs: index < 3 ? [] : [`s${index - 3}`],
  })),
})

export const crashPlan = crashPlanOf(30)

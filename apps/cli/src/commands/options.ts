/** For commander: an option that may be given several times. */
export const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value]

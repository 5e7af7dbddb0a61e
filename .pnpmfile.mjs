// What is published carries no development dependencies: some of ours are private, and nobody else installs them.
export const hooks = {
  beforePacking(manifest) {
    const { devDependencies: _, ...published } = manifest
    return published
  },
}

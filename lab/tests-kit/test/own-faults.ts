import type { Executor, Guarantees } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import type { ComponentName } from '@ws/test-fixtures'
import type { faults } from '@ws/conformance'

/** The executor, which claims one field more than it holds. */
function claiming(inner: Executor, claim: Partial<Guarantees>): Executor {
  return {
    name: inner.name,
    kind: inner.kind,
    async probe(target) {
      const report = await inner.probe(target)
      return { ...report, guarantees: { ...report.guarantees, ...claim } }
    },
    async attach(view) {
      const attached = await inner.attach(view)
      return {
        guarantees: { ...attached.guarantees, ...claim },
        spawn: (request, plan) => attached.spawn(request, plan),
        close: () => attached.close(),
      }
    },
  }
}

/** Executors of ours that are made to hold less, and claim that they hold it all the same. */
export const ownFaults: readonly (faults.ExecutorFault & { readonly needs: readonly ComponentName[] })[] = [
  {
    name: 'shares the network of the host, and claims that it does not',
    caughtBy: 'network: no network is reached',
    base: 'process',
    needs: ['bubblewrap'],
    apply: () => claiming(createBubblewrapExecutor({ network: 'host' }), { network: 'kernel' }),
  },
  {
    name: 'shares the processes of the host, and claims that it does not',
    caughtBy: 'processes: none of the host is seen or signalled',
    base: 'process',
    needs: ['bubblewrap', 'proot'],
    apply: () => claiming(createProotExecutor({ landlock: 'off', pidNamespace: 'off' }), { processes: 'kernel' }),
  },
]

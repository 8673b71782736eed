import type { Store } from '../src/store/index.ts'

/** Wraps a store so that it awaits `step` before each batch, and between each read and its result. */
export function steppingStore(store: Store, step: (what: 'read' | 'batch') => Promise<void>): Store {
  return {
    ...store,
    read: store.read.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        await step('read')
        return result
      },
    }),
    async batch(operations, options) {
      await step('batch')
      await store.batch(operations, options)
    },
  }
}

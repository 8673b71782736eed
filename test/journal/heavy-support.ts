import { type BatchOperation, columnsOf, type Store } from '../../src/store/index.ts'
import { countsIn } from '../../testkit/counts.ts'
import { deltaOf, eventPayload } from '../../testkit/deltas.ts'

export const NOW = Date.parse('2026-11-20T10:00:30.000Z')
export const CONTAINERS = 60
export const TAGS = 300

export const tagsOf = (count: number) =>
  Array.from({ length: count }, (_, tag) => ({ id: `${tag}`, name: `tag ${tag}`, status: 'success' as const }))

/** Requests of a valid sender that costs as much as it may: a container each, and as many tags as fit. The first names version and client. */
export const manyTags = (siteNo: number, containers = CONTAINERS, tags = TAGS) =>
  deltaOf(
    siteNo,
    Array.from({ length: containers }, (_, container) =>
      eventPayload({
        timestamp_ms: NOW,
        container_id: `container ${container}`,
        tags: tagsOf(tags),
        ...(container === 0 ? { container: { version: '7', environment: 'Live', clients: ['GA4'] } } : {}),
      }),
    ),
    NOW,
  )

export const oneEvent = (siteNo: number) => deltaOf(siteNo, [eventPayload({ timestamp_ms: NOW })], NOW)

/** Rows that each batch of the store writes, at most. */
export function watchedRows(store: Store): { store: Store; most: () => number } {
  let most = 0
  const rowsOf = (operation: BatchOperation) =>
    operation.kind === 'upsert' ? operation.values.length / columnsOf(operation.spec).length : 1
  return {
    most: () => most,
    store: {
      ...store,
      batch(operations, options) {
        most = Math.max(
          most,
          operations.reduce((sum, operation) => sum + rowsOf(operation), 0),
        )
        return store.batch(operations, options)
      },
    },
  }
}

export async function executions(store: Store, siteNo: number, table: 'tag_rollups' | 'event_tag_rollups') {
  const { total } = await store.read
    .selectFrom(countsIn(store.read, table))
    .select(({ fn }) => fn.sum<number>('success').as('total'))
    .where('site_no', '=', siteNo)
    .executeTakeFirstOrThrow()
  return Number(total ?? 0)
}

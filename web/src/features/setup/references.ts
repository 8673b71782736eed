import type { AddedRecord } from '../../api/reconciliation.ts'
import { counted, whole } from '../../lib/words.ts'

/** What a file holds: an order or more in each hour, 0 where there was none. */
export const EXAMPLE = [
  'source,event,hour,count',
  'shop,purchase,2026-11-20T14:00:00Z,37',
  'shop,purchase,2026-11-20T15:00:00Z,0',
].join('\n')

/** Larger files are refused unread, bytes. */
export const FILE_MAX = 1_048_576

/** The line that sends a file, from a job of the shop. The token is not shown here, so it is a variable. */
export const referenceLine = (base: string, siteId: string): string =>
  [
    `curl ${base}/api/sites/${siteId}/reference-counts \\`,
    `  -H "Authorization: Bearer $ADMIN_TOKEN" \\`,
    `  -H 'Content-Type: text/csv' \\`,
    `  --data-binary @orders.csv`,
  ].join('\n')

/** "240 counts of purchase from shop" */
export const addedWords = (added: readonly AddedRecord[]): string =>
  added
    .map(({ source, events, hours }) => {
      const names = events.length > 2 ? counted(events.length, 'event') : events.join(' and ')
      return `${whole(hours)} ${hours === 1 ? 'count' : 'counts'} of ${names} from ${source}`
    })
    .join(', ')

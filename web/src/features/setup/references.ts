import type { AddedRecord } from '../../api/reconciliation.ts'
import { counted, whole } from '../../lib/words.ts'

/** An example of the file: the orders of each hour, 0 when there were none. */
export const EXAMPLE = [
  'source,event,hour,count',
  'shop,purchase,2026-11-20T14:00:00Z,37',
  'shop,purchase,2026-11-20T15:00:00Z,0',
].join('\n')

/** Maximum size of a file, bytes; larger ones are refused unread. */
export const FILE_MAX = 1_048_576

/** A curl command with which a job of the shop sends a file. The token is a variable, because the page does not know one. */
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

import type { AddedRecord } from '../../api/reconciliation.ts'
import { counted, whole } from '../../lib/words.ts'

/** The address that the tag sends to. */
export interface IngestAddress {
  endpoint: string
  /** Whether the tag accepts it: it sends only to `https://`. */
  isHttps: boolean
}

/** @param base without a trailing slash */
export const ingestOf = (base: string): IngestAddress => ({
  endpoint: `${base}/ingest`,
  isHttps: base.startsWith('https://'),
})

/** The container id of samples, from here and from `tagwarden send` (whose events count), so that they are not mistaken for the tag. */
export const SAMPLE_CONTAINER = 'GTM-SAMPLE1'

/**
 * A curl command that sends one event as the tag does in a preview: it appears among the samples, but no report, chart or probe counts
 * it.
 *
 * @param key as it is to appear in the command
 * @param now epoch ms; a time over 24 hours old would be counted as skewed
 */
export function curlLine({ endpoint }: IngestAddress, key: string, now: number): string {
  const payload = {
    container_id: SAMPLE_CONTAINER,
    event_name: 'sample',
    timestamp_ms: now,
    preview: true,
    tags: [{ id: '1', name: 'Sample tag', status: 'success', execution_time: 84 }],
  }
  return [
    `curl ${endpoint} \\`,
    `  -H 'X-Service-Key: ${key}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(payload)}'`,
  ].join('\n')
}

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

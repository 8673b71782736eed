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

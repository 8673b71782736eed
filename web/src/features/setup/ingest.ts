/** Where the tag sends to. */
export interface IngestAddress {
  endpoint: string
  /** The tag accepts `https://` only. */
  isHttps: boolean
}

/** @param base without a slash at its end */
export const ingestOf = (base: string): IngestAddress => ({
  endpoint: `${base}/ingest`,
  isHttps: base.startsWith('https://'),
})

/** The container that samples come from, here as with `tagwarden send`, whose events count: so that a sample is not taken for the tag. */
export const SAMPLE_CONTAINER = 'GTM-SAMPLE1'

/**
 * The line that sends one event as the tag does in a preview: it is found among the samples, and no report, chart or probe counts it.
 *
 * @param key as it is to stand in the line
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

import type { IncomingHttpHeaders } from 'node:http'
import { type Static, Type } from 'typebox'
import { errorResponses, type HttpApp, IsoTime, Uuid } from '../http/index.ts'
import { type Clock, floorTo, HOUR, isoTime, MINUTE } from '../lib/index.ts'
import { requireSite } from '../management/index.ts'
import { type Kysely, NO_SITE, type Store, type Tables, totalOf } from '../store/index.ts'

/** How far back to count requests of no site. */
const LOOKED_BACK_MS = HOUR

export interface DiagnosticsOptions {
  store: Pick<Store, 'read'>
  clock: Clock
  /** `PUBLIC_URL`, or null. */
  publicUrl: string | null
  /** Whether `TRUST_PROXY` trusts any proxy. */
  trustsProxy: boolean
}

export const DiagnosticsAnswer = Type.Object({
  connection: Type.Array(
    Type.Object({
      code: Type.Enum(['forwarded_http', 'public_url_unset', 'proxy_not_trusted']),
      message: Type.String(),
    }),
    {
      description:
        "What is odd about the way this very request arrived: the tag's requests come through the same proxy",
    },
  ),
  without_site: Type.Array(
    Type.Object({
      reason: Type.String({
        description:
          '`unauthorized`: a key of no site; `malformed_key`: does not look like a key; `misplaced_key`: in another header or the ' +
          'address, and no site has it; `no_key`; `method_not_allowed`: no POST, and no key',
      }),
      requests: Type.Integer(),
      last_at: Type.Unsafe<string>({ ...IsoTime, description: 'The minute of the last one' }),
    }),
    {
      description: 'Refused ingest requests of the last hour with no known key: from this site, another, or a stranger',
    },
  ),
})
export type DiagnosticsAnswer = Static<typeof DiagnosticsAnswer>
type ConnectionFinding = DiagnosticsAnswer['connection'][number]

/** Adds a route that helps when no event arrives. Refusals known to be the site's own are among its recent rejections instead. */
export function diagnosticsRoutes(app: HttpApp, options: DiagnosticsOptions): void {
  const { store, clock } = options
  app.get(
    '/api/monitoring/sites/:site_id/diagnostics',
    {
      schema: {
        tags: ['Reports'],
        summary: 'Why no event may arrive',
        description:
          'How this request reached the service, and refused requests that belong to no site. Of refused requests only kind, number and ' +
          'time are kept.',
        params: Type.Object({ site_id: Uuid }),
        response: { 200: DiagnosticsAnswer, ...errorResponses(404) },
      },
    },
    async ({ params, headers }) => {
      await requireSite(store.read, params.site_id)
      return {
        connection: connectionFindings(headers, options),
        without_site: await withoutSite(store.read, clock.now()),
      }
    },
  )
}

async function withoutSite(db: Kysely<Tables>, now: number): Promise<DiagnosticsAnswer['without_site']> {
  const rows = await db
    .selectFrom('rejection_counts')
    .select(({ fn }) => ['reason', totalOf('total').as('requests'), fn.max<number>('bucket').as('last')])
    .where('site_no', '=', NO_SITE)
    .where('bucket', '>=', floorTo(now - LOOKED_BACK_MS, MINUTE))
    .where('bucket', '<=', now)
    .groupBy('reason')
    .orderBy('reason')
    .execute()
  return rows.map(({ reason, requests, last }) => ({ reason, requests, last_at: isoTime(last) }))
}

/**
 * Findings from a request's headers about the proxy in front: what will keep the tag from sending or hide its sender. Headers can
 * be forged, but only by the caller who sees the answer.
 */
export function connectionFindings(
  headers: IncomingHttpHeaders,
  { publicUrl, trustsProxy }: Pick<DiagnosticsOptions, 'publicUrl' | 'trustsProxy'>,
): ConnectionFinding[] {
  const scheme = firstOf(headers['x-forwarded-proto'])?.toLowerCase()
  const isForwarded =
    scheme !== undefined || headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
  const findings: ConnectionFinding[] = []
  const isSecure = publicUrl?.startsWith('https://') === true
  if (scheme === 'http') {
    const message = isSecure
      ? 'The proxy says by X-Forwarded-Proto that this page was opened over http, though PUBLIC_URL begins with https: redirect people to ' +
        'https, and if another proxy ends TLS before it, have it pass X-Forwarded-Proto on'
      : 'The proxy in front of Tagwarden accepts http, but the tag sends to https only. Give the proxy a certificate, and set PUBLIC_URL to its https address'
    findings.push({ code: 'forwarded_http', message })
  }
  if (isForwarded && publicUrl === null) {
    const message =
      'A proxy forwards requests, and PUBLIC_URL is not set: set it to the https address that the tag is to send to'
    findings.push({ code: 'public_url_unset', message })
  }
  if (isForwarded && !trustsProxy) {
    const message =
      'A proxy forwards requests, and TRUST_PROXY does not name it: all callers look like one, and the failed sign-ins of one slow down all'
    findings.push({ code: 'proxy_not_trusted', message })
  }
  return findings
}

const firstOf = (header: string | string[] | undefined): string | undefined =>
  [header].flat()[0]?.split(',', 1)[0]?.trim()

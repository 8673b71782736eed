import type { IncomingHttpHeaders } from 'node:http'
import { type Static, Type } from 'typebox'
import { errorResponses, type HttpApp, IsoTime, model, Uuid } from '../http/index.ts'
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

export const DiagnosticsAnswer = model('Diagnostics', {
  connection: Type.Array(
    Type.Object({
      code: Type.Enum(['forwarded_http', 'public_url_unset', 'proxy_not_trusted']),
      message: Type.String(),
    }),
    {
      description: "Problems with the way this request arrived: the tag's requests come through the same proxy",
    },
  ),
  without_site: Type.Array(
    Type.Object({
      reason: Type.String({
        description:
          '`unauthorized`: a key of no site; `malformed_key`: the value does not look like a key; `misplaced_key`: in another header or in the ' +
          'address, and no site has it; `no_key`; `method_not_allowed`: not a POST, and no key',
      }),
      requests: Type.Integer(),
      last_at: Type.Unsafe<string>({ ...IsoTime, description: 'When the last one arrived, to the minute' }),
    }),
    {
      description:
        'Ingest requests of the last hour that were refused without a known key: from this site, another site, or a stranger',
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
        summary: 'Diagnose why no event arrives',
        description:
          'How this request reached the service, and refused requests that belong to no site, of which only kind, number and ' +
          'time are stored.',
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
      ? 'According to X-Forwarded-Proto, this page was opened over http, although PUBLIC_URL begins with https: redirect people to ' +
        'https, and if another proxy in front of it terminates TLS, pass X-Forwarded-Proto on from there'
      : 'The proxy in front of Tagwarden accepts http, but the tag only sends to https. Give the proxy a certificate, and set PUBLIC_URL to its https address'
    findings.push({ code: 'forwarded_http', message })
  }
  if (isForwarded && publicUrl === null) {
    const message =
      'A proxy forwards requests, and PUBLIC_URL is not set: set it to the https address that the tag should send to'
    findings.push({ code: 'public_url_unset', message })
  }
  if (isForwarded && !trustsProxy) {
    const message =
      'A proxy forwards requests, and TRUST_PROXY does not name it: all callers share one address, so the failed sign-ins of one slow down all'
    findings.push({ code: 'proxy_not_trusted', message })
  }
  return findings
}

const firstOf = (header: string | string[] | undefined): string | undefined =>
  [header].flat()[0]?.split(',', 1)[0]?.trim()

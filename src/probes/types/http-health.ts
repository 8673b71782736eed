import { Type } from 'typebox'
import { EXPECTS } from '../../http/index.ts'
import { defineProbeType, isNetworkFailure } from '../probe-type.ts'
import { healthEndpoints, shownAddress } from '../tag-server/addresses.ts'
import { CERTIFICATE_SETTINGS, certificateFaults } from '../tag-server/certificate.ts'
import { checkGtmJs, checkHealth } from '../tag-server/health.ts'
import { badFindings, judged, sinceInMemory, sinceText, statusSince } from '../tag-server/judge.ts'

export const httpHealth = defineProbeType({
  name: 'http_health',
  title: 'Tag server health',
  description:
    'Whether the tag server answers its health address correctly, quickly enough, and with a valid certificate.',
  kind: 'wire',
  siteFields: ['tag_server_url', 'tag_manager_web_container_id'],
  needs: [['tag_server_url']],
  config: Type.Object(
    {
      path: Type.Optional(
        Type.String({
          pattern: '^/',
          [EXPECTS]: 'a path that begins with /',
          maxLength: 1_024,
          description:
            'Path to request, from the root of the host; without it, /healthy, /healthz and the address as given are tried below the path of tag_server_url',
        }),
      ),
      expected_status: Type.Array(Type.Integer({ minimum: 100, maximum: 599 }), {
        maxItems: 20,
        default: [],
        description: 'Statuses that are accepted; empty = 200 to 299',
      }),
      expected_body: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 1_024,
          description: 'Text that the answer must contain, or the result is critical',
        }),
      ),
      slow_ms: Type.Integer({
        minimum: 0,
        maximum: 60_000,
        default: 5_000,
        description: 'Warn when the answer takes longer than this many ms; 0 = never',
      }),
      ...CERTIFICATE_SETTINGS,
      check_gtm_js: Type.Boolean({
        default: false,
        description: 'Critical unless the tag server also serves gtm.js of the web container',
      }),
    },
    { additionalProperties: false },
  ),
  checkConfig: certificateFaults,
  defaultIntervalSeconds: 300,
  async run({ site, config, memory, now, timeoutMs, signal, outbound }) {
    const { tag_server_url: url, tag_manager_web_container_id: containerId } = site
    if (url === null) throw new Error('the site has no tag_server_url')
    const tools = { outbound, timeoutMs, signal }
    const remembered = typeof memory.path === 'string' ? memory.path : undefined
    const [health, script] = await Promise.all([
      checkHealth(tools, url, healthEndpoints(url, config.path, remembered), config),
      config.check_gtm_js ? checkGtmJs(tools, url, containerId) : null,
    ])
    const findings = [...health.findings, ...(script?.findings ?? [])]
    const { status, message } = judged(findings, health.summary)
    const since = statusSince(memory, status, now)
    const path = health.workingPath ?? remembered
    return {
      status,
      message,
      details: {
        url: shownAddress(url),
        since: sinceText(since),
        findings: badFindings(findings),
        ...health.details,
        ...(script === null ? {} : { gtm_js: script.details }),
      },
      ...(health.totalMs === null ? {} : { responseTimeMs: health.totalMs }),
      memory: { ...(path === undefined ? {} : { path }), standing: sinceInMemory(since) },
      isNetworkFailure: [health.failure, script?.failure].some(isNetworkFailure),
    }
  },
})

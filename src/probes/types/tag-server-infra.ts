import { Type } from 'typebox'
import { EXPECTS } from '../../http/index.ts'
import { defineProbeType, isNetworkFailure, SecretText } from '../probe-type.ts'
import { shownAddress } from '../tag-server/addresses.ts'
import { CERTIFICATE_SETTINGS, certificateFaults } from '../tag-server/certificate.ts'
import { checkHostingA, checkHostingB } from '../tag-server/hosting.ts'
import { PROVIDER_A_SETTINGS } from '../tag-server/hosting-a.ts'
import { badFindings, judged, objectIn, sinceInMemory, sinceText, statusSince } from '../tag-server/judge.ts'
import { lookFromOutside } from '../tag-server/outside.ts'

export const tagServerInfra = defineProbeType({
  name: 'tag_server_infra',
  title: 'Tag server infrastructure',
  description:
    'What is behind the tag server: container, domains and usage as its host reports them, and, from outside, its DNS, certificate, first-party address and proxied gtm.js.',
  kind: 'wire',
  siteFields: [
    'url',
    'tag_server_url',
    'tag_manager_web_container_id',
    'hosting_a_container_id',
    'hosting_b_container_id',
  ],
  needs: [['tag_server_url'], ['hosting_a_container_id'], ['hosting_b_container_id']],
  config: Type.Object(
    {
      path: Type.Optional(
        Type.String({
          pattern: '^/',
          [EXPECTS]: 'a path that begins with /',
          maxLength: 1_024,
          description: 'Path of the health check, from the root of the host; without it, the usual paths are tried',
        }),
      ),
      dns_targets: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
        maxItems: 20,
        default: [],
        description: 'Host names or addresses; the tag server must point to at least one of them; empty = any',
      }),
      ...CERTIFICATE_SETTINGS,
      expect_first_party: Type.Boolean({
        default: true,
        description: 'Warn when the tag server does not share the registrable domain of the site',
      }),
      watch_gtm_js: Type.Boolean({
        default: true,
        description: 'Warn when the tag server stops serving gtm.js of the web container',
      }),
      usage_warning_percent: Type.Integer({
        minimum: 1,
        maximum: 1_000,
        default: 90,
        description: "Warn when this percentage of the plan's requests is used",
      }),
      ok_statuses: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 20,
        default: [],
        description: 'Statuses of the hosting providers that are accepted, besides those that this version knows',
      }),
      ...PROVIDER_A_SETTINGS,
      hosting_b_json_path: Type.String({
        minLength: 1,
        maxLength: 200,
        default: 'status',
        description: 'Path to the status in the answer of HOSTING_B_STATUS_URL, e.g. data.0.status',
      }),
      hosting_b_token: SecretText('Bearer token for HOSTING_B_STATUS_URL, instead of HOSTING_B_TOKEN'),
    },
    { additionalProperties: false },
  ),
  checkConfig: certificateFaults,
  defaultIntervalSeconds: 900,
  minIntervalSeconds: 60,
  async run({ site, config, memory, now, timeoutMs, signal, outbound, settings }) {
    const caller = { outbound, timeoutMs, signal, now }
    const [outside, hostingA, hostingB] = await Promise.all([
      site.tag_server_url === null
        ? null
        : lookFromOutside(caller, {
            siteUrl: site.url,
            tagServerUrl: site.tag_server_url,
            webContainerId: site.tag_manager_web_container_id,
            path: config.path,
            certificate_warning_days: config.certificate_warning_days,
            certificate_critical_days: config.certificate_critical_days,
            dns_targets: config.dns_targets,
            expects_first_party: config.expect_first_party,
            watches_gtm_js: config.watch_gtm_js,
            memory: objectIn(memory.outside),
            now,
          }),
      checkHostingA(caller, site, settings, config, memory),
      checkHostingB(caller, site, settings, config),
    ])
    const parts = [outside, hostingA, hostingB].filter((part) => part !== null)
    const findings = parts.flatMap((part) => part.findings)
    const summaries = parts.map(({ summary }) => summary).filter((summary) => summary !== '')
    const { status, message } = judged(findings, summaries.join('; '))
    const since = statusSince(memory, status, now)
    const totalMs = parts.map((part) => part.totalMs).find((ms) => ms !== null)
    return {
      status,
      message,
      details: {
        ...(site.tag_server_url === null ? {} : { url: shownAddress(site.tag_server_url) }),
        since: sinceText(since),
        findings: badFindings(findings),
        outside: outside?.details ?? null,
        hosting_a: hostingA?.details ?? null,
        hosting_b: hostingB?.details ?? null,
      },
      ...(totalMs === undefined ? {} : { responseTimeMs: totalMs }),
      memory: {
        standing: sinceInMemory(since),
        ...(outside === null ? {} : { outside: outside.memory }),
        ...(hostingA === null ? {} : { hosting_a: hostingA.memory }),
      },
      isNetworkFailure: parts.some(({ failure }) => isNetworkFailure(failure)),
    }
  },
})

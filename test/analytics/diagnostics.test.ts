import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionFindings } from '../../src/analytics/diagnostics.ts'
import type { DiagnosticsAnswer } from '../../src/analytics/index.ts'
import { MINUTE, newId } from '../../src/lib/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { startTestService } from '../../testkit/service.ts'

const HTTPS = 'https://tagwarden.example.com'
const forwarded = (proto: string) => ({ 'x-forwarded-proto': proto, 'x-forwarded-for': '203.0.113.9' })

const WAYS: readonly [
  what: string,
  headers: Record<string, string>,
  publicUrl: string | null,
  trustsProxy: boolean,
  codes: string[],
][] = [
  ['no proxy', {}, null, false, []],
  ['a proxy as it should be', forwarded('https'), HTTPS, true, []],
  ['a proxy that no setting knows of', forwarded('https'), null, false, ['public_url_unset', 'proxy_not_trusted']],
  ['a proxy that takes http', forwarded('http'), 'http://tagwarden.example.com', true, ['forwarded_http']],
  ['a proxy behind one that ends TLS', forwarded('http'), HTTPS, true, ['forwarded_http']],
  ['the first of two proxies on https', forwarded('https, http'), HTTPS, true, []],
  ['a proxy that sends Forwarded only', { forwarded: 'for=203.0.113.9' }, HTTPS, false, ['proxy_not_trusted']],
  ['a header that is no scheme', forwarded('gopher'), HTTPS, true, []],
  ['an empty header', forwarded(''), HTTPS, true, []],
]

for (const [what, headers, publicUrl, trustsProxy, codes] of WAYS) {
  test(`of the way by ${what} is said: ${codes.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(
      connectionFindings(headers, { publicUrl, trustsProxy }).map(({ code }) => code),
      codes,
    )
  })
}

test('the way that is judged is that of the request, and counts end after an hour', async (t) => {
  const clock = new TestClock('2026-11-20T10:00:30.000Z')
  const service = await startTestService(t, clock)
  const site = await service.newSite(await service.newClient())
  const path = `/api/monitoring/sites/${site.id}/diagnostics`
  await service.call('POST', '/ingest', {})
  await service.service.ingest.flush()
  const answer = await service.call('GET', path, undefined, forwarded('http'))
  const { connection, without_site } = answer.json<DiagnosticsAnswer>()
  assert.deepEqual(
    connection.map(({ code }) => code),
    ['forwarded_http', 'public_url_unset', 'proxy_not_trusted'],
  )
  assert.deepEqual(without_site, [{ reason: 'no_key', requests: 1, last_at: '2026-11-20T10:00:00.000Z' }])
  clock.advance(61 * MINUTE)
  assert.deepEqual((await service.ask<DiagnosticsAnswer>('GET', path)).without_site, [])
  assert.equal((await service.call('GET', `/api/monitoring/sites/${newId()}/diagnostics`)).status, 404)
})

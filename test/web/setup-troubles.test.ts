import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONTAINER } from '../../web/src/features/setup/ingest.ts'
import { adviceOf } from '../../web/src/features/setup/rejections.ts'
import { type Facts, troublesOf } from '../../web/src/features/setup/troubles.ts'

const AT = '2026-11-20T10:00:00.000Z'
const MINUTE = 60_000

const facts = (over: Partial<Facts>): Facts => ({
  recent: { accepted: [], rejections: [] },
  diagnostics: { connection: [], without_site: [] },
  endpointHost: 'tagwarden.example.com',
  pageHost: 'tagwarden.example.com',
  waitedMs: MINUTE,
  ...over,
})

const idsOf = (over: Partial<Facts>): string[] => troublesOf(facts(over)).map(({ id }) => id)
const recentOf = (...accepted: object[]): Facts['recent'] => ({
  accepted: accepted.map((payload) => ({ accepted_at: AT, ...payload })),
  rejections: [],
})
const stranger = (reason: string) => ({ connection: [], without_site: [{ reason, requests: 3, last_at: AT }] })
const SAMPLE = { container_id: SAMPLE_CONTAINER, preview: true }
const PREVIEW = { container_id: 'GTM-A', preview: true }
const LONG = 11 * MINUTE

test('in the first minutes of a new site there is nothing to say', () => {
  assert.deepEqual(idsOf({}), [])
})

test('after ten minutes without anything it says what to check, in order', () => {
  assert.deepEqual(idsOf({ waitedMs: LONG }), ['published', 'reachable', 'blocked'])
})

test('a sample shows that the way is open', () => {
  assert.deepEqual(idsOf({ waitedMs: LONG, recent: recentOf(SAMPLE) }), ['published', 'blocked'])
})

test('previews and nothing else say that the container is not published', () => {
  assert.deepEqual(idsOf({ waitedMs: LONG, recent: recentOf(PREVIEW, SAMPLE) }), ['preview'])
  assert.deepEqual(idsOf({ recent: recentOf(PREVIEW, { container_id: 'GTM-A' }) }), [])
})

test('where only an environment came that the tag keeps out of the counts, it is named', () => {
  const staging = { ...PREVIEW, container: { version: '42', environment: 'Staging' } }
  const [trouble, ...more] = troublesOf(facts({ waitedMs: LONG, recent: recentOf(PREVIEW, staging) }))
  assert.deepEqual([trouble?.id, more], ['environment', []])
  assert.match(trouble?.text ?? '', /from the environment “Staging”, which the tag keeps out of the counts/)
  assert.deepEqual(idsOf({ recent: recentOf(staging, { container_id: 'GTM-A' }) }), [])
})

test('what was refused has been there: nothing is guessed beside it', () => {
  const recent = { accepted: [], rejections: [{ at: AT, reason: 'unauthorized', path: 'header X-Api-Key' }] }
  assert.deepEqual(idsOf({ waitedMs: LONG, recent }), [])
})

for (const reason of ['unauthorized', 'malformed_key', 'misplaced_key', 'no_key']) {
  test(`strangers with ${reason} are named with their number, and stand for the guesses`, () => {
    const [trouble, ...more] = troublesOf(facts({ waitedMs: LONG, diagnostics: stranger(reason) }))
    assert.match(trouble?.text ?? '', /^3 requests to this service in the last hour/)
    assert.deepEqual(more, [])
  })
}

test('a look with the browser is no sign of the tag', () => {
  assert.deepEqual(idsOf({ waitedMs: LONG, diagnostics: stranger('method_not_allowed') }), [
    'method_not_allowed',
    'published',
    'reachable',
    'blocked',
  ])
})

test('a reason that this page does not know is left out', () => {
  assert.deepEqual(idsOf({ diagnostics: stranger('something_new') }), [])
})

test('another name than the endpoint has is said', () => {
  const [trouble] = troublesOf(facts({ pageHost: '10.0.0.5' }))
  assert.match(
    trouble?.text ?? '',
    /opened at 10\.0\.0\.5\. Check whether tagwarden\.example\.com also leads to Tagwarden/,
  )
})

for (const [reason, path, says] of [
  ['unauthorized', 'header X-Api-Key', /in the header X-Service-Key\. For senders that cannot/],
  ['unauthorized', 'query of the address', /kept in the logs of proxies/],
  ['unauthorized', 'key header with more than the key', /43 characters alone/],
  ['method_not_allowed', 'GET', /from http to https/],
  ['not_found', 'address', /with \/ingest at its end/],
  ['invalid_payload', 'header Content-Type', /application\/json/],
] as const) {
  test(`a refusal for ${reason} at ${path} says what to do`, () => {
    assert.match(adviceOf({ reason, path }).todo, says)
  })
}

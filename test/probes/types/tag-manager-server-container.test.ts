import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { HOUR, MINUTE } from '../../../src/lib/index.ts'
import type { GoogleCredentials, JsonObject } from '../../../src/probes/probe-type.ts'
import { tagManagerVersion } from '../../../src/probes/types/tag-manager-version.ts'
import { NOW } from '../../../testkit/clock.ts'
import { deadAddress } from '../../../testkit/listeners.ts'
import { httpServer } from '../../outbound/support.ts'
import { EMAIL, googleError, googleServer, otherKey, type ReceivedRequest, type Reply } from './google-server.ts'
import { type RunGiven, runType, siteRow } from './run-type.ts'

const SCOPE = 'https://www.googleapis.com/auth/tagmanager.readonly'
const SERVER = 'GTM-SRV1234'
const LIVE = '/tagmanager/v2/accounts/60/containers/7001/versions:live'

const container = (publicId: string, accountId: string, containerId: string) => ({ publicId, accountId, containerId })
const json = (body: unknown): Reply => ({ json: body })

const version = (containerVersionId: string): Reply =>
  json({
    containerVersionId,
    name: 'Spring sale',
    fingerprint: '1716',
    tag: [
      { tagId: '12', name: 'GA4' },
      { tagId: '31', name: 'Ads', paused: true },
    ],
  })

/** Two accounts, the second with its containers on two pages. */
function tagManager(
  live: Reply | ((asked: ReceivedRequest) => Reply) = version('7'),
): (asked: ReceivedRequest) => Reply | undefined {
  return (asked) => {
    const [path = ''] = asked.path.split('?')
    const page = new URLSearchParams(asked.path.split('?')[1]).get('pageToken')
    if (path === '/tagmanager/v2/accounts') return json({ account: [{ accountId: '50' }, { accountId: '60' }] })
    if (path === '/tagmanager/v2/accounts/50/containers') return json({ container: [container('GTM-A', '50', '1')] })
    if (path === '/tagmanager/v2/accounts/60/containers') {
      return page === 'p 2'
        ? json({ container: [container(SERVER, '60', '7001')] })
        : json({ container: [container('GTM-B', '60', '2')], nextPageToken: 'p 2' })
    }
    if (path === LIVE) return typeof live === 'function' ? live(asked) : live
    return undefined
  }
}

const run = (t: TestContext, url: string, credentials: GoogleCredentials | null, given: Partial<RunGiven> = {}) =>
  runType(t, tagManagerVersion, {
    site: siteRow({ tag_manager_server_container_id: SERVER }),
    settings: { tagManagerApiUrl: url, googleCredentials: credentials },
    ...given,
  })

async function runAgainst(t: TestContext, live: Reply, given: Partial<RunGiven> = {}) {
  const google = await googleServer(t, SCOPE, tagManager(live))
  return run(t, google.url, google.credentials, given)
}

test('the live version of a server container comes from the API, with its tags', async (t) => {
  const outcome = await runAgainst(t, version('7'))
  assert.deepEqual([outcome.status, outcome.message], ['ok', `Server container ${SERVER} is at version 7`])
  const { name, fingerprint, tags_total, tags } = outcome.details.server as Record<string, unknown>
  assert.deepEqual(
    [name, fingerprint, tags_total, tags],
    [
      'Spring sale',
      '1716',
      2,
      [
        { id: '12', name: 'GA4' },
        { id: '31', name: 'Ads', is_paused: true },
      ],
    ],
  )
  const again = await runAgainst(t, version('7'), { memory: outcome.memory ?? {}, now: NOW + HOUR })
  const seen = again.details.server as Record<string, unknown>
  assert.deepEqual([seen.version, seen.tags_total, seen.tags], ['7', 2, undefined], 'once a version')
})

test('the numbers of a container are looked up once, and one token serves many runs', async (t) => {
  const google = await googleServer(t, SCOPE, tagManager())
  await run(t, google.url, google.credentials)
  assert.deepEqual(
    google.asked.map(({ path }) => path.split('?fields')[0]),
    [
      '/tagmanager/v2/accounts',
      '/tagmanager/v2/accounts/50/containers',
      '/tagmanager/v2/accounts/60/containers',
      '/tagmanager/v2/accounts/60/containers?pageToken=p%202',
      LIVE,
    ],
  )
  await run(t, google.url, google.credentials, { now: NOW + 30 * MINUTE })
  assert.equal(google.asked.length, 6)
  assert.deepEqual(google.tokens, [SCOPE])
  await run(t, google.url, google.credentials, { now: NOW + HOUR })
  assert.deepEqual(google.tokens, [SCOPE, SCOPE])
})

test('probes that start together share one token and one list of containers', async (t) => {
  const google = await googleServer(t, SCOPE, tagManager())
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => run(t, google.url, google.credentials)))
  assert.deepEqual(new Set(outcomes.map(({ status }) => status)), new Set(['ok']))
  assert.deepEqual([google.tokens.length, google.asked.length], [1, 4 + 5])
})

test('a new version of a server container is a warning with a deploy marker, a lower one is critical', async (t) => {
  let live = version('7')
  const google = await googleServer(
    t,
    SCOPE,
    tagManager(() => live),
  )
  let memory: JsonObject = {}
  const next = async (now: number) => {
    const outcome = await run(t, google.url, google.credentials, { memory, now })
    memory = outcome.memory ?? memory
    return outcome
  }
  await next(NOW)
  live = version('8')
  const changed = await next(NOW + MINUTE)
  assert.equal(changed.status, 'warning')
  assert.deepEqual(changed.deployMarkers?.[0]?.source, 'server container')
  live = version('6')
  const back = await next(NOW + 2 * MINUTE)
  assert.match(back.message, /went back from version 8 to 6/)
  assert.equal(back.status, 'critical')
})

test('expected_version is that of the server container where the site has no other', async (t) => {
  const outcome = await runAgainst(t, version('7'), { config: { expected_version: 8 } })
  assert.equal(outcome.status, 'critical')
})

test('a container without a published version is critical', async (t) => {
  const notFound = googleError(404, 'Not found or permission denied.', 'notFound')
  const outcome = await runAgainst(t, notFound)
  assert.deepEqual(
    [outcome.status, outcome.message],
    ['critical', `Server container ${SERVER} has no published version`],
  )
})

test('a container that is no longer listed is an error that says where access is given', async (t) => {
  let isListed = true
  const listed = tagManager()
  const google = await googleServer(t, SCOPE, (asked) => {
    if (isListed) return listed(asked)
    return asked.path === '/tagmanager/v2/accounts' ? json({ account: [] }) : undefined
  })
  await run(t, google.url, google.credentials)
  isListed = false
  const outcome = await run(t, google.url, google.credentials, { now: NOW + 2 * HOUR })
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, new RegExp(`${EMAIL} sees no container ${SERVER}: add the account in Tag Manager`))
})

test('a container that the account never saw is looked for once an hour', async (t) => {
  const google = await googleServer(t, SCOPE, (asked) =>
    asked.path === '/tagmanager/v2/accounts' ? json({ account: [] }) : undefined,
  )
  for (const now of [NOW, NOW + 15 * MINUTE, NOW + HOUR]) {
    assert.equal((await run(t, google.url, google.credentials, { now })).status, 'error')
  }
  assert.equal(google.asked.length, 2)
})

test('a container that is known is read although the list that is read again for another breaks off', async (t) => {
  const all = tagManager()
  let isBroken = false
  const google = await googleServer(t, SCOPE, (asked) =>
    isBroken && asked.path.startsWith('/tagmanager/v2/accounts/60/containers?')
      ? { status: 500, text: '' }
      : all(asked),
  )
  await run(t, google.url, google.credentials)
  isBroken = true
  const missing = siteRow({ tag_manager_server_container_id: 'GTM-GONE' })
  const now = NOW + HOUR
  assert.equal((await run(t, google.url, google.credentials, { site: missing, now })).status, 'error')
  assert.equal((await run(t, google.url, google.credentials, { now })).status, 'ok')
})

test('a list that broke off is read from its beginning when Google no longer knows the next page', async (t) => {
  const all = tagManager()
  let expired: Reply | null = { status: 503, text: '' }
  const google = await googleServer(t, SCOPE, (asked) => {
    const [path, query] = asked.path.split('?')
    if (path !== '/tagmanager/v2/accounts/60/containers') return all(asked)
    const page = new URLSearchParams(query).get('pageToken')
    if (page === null) return json({ container: [], nextPageToken: expired === null ? 'new' : 'old' })
    if (page === 'new') return json({ container: [container(SERVER, '60', '7001')] })
    return expired ?? googleError(400, 'Invalid page token', 'invalidArgument')
  })
  const at = async (minutes: number) =>
    (await run(t, google.url, google.credentials, { now: NOW + minutes * MINUTE })).status
  assert.equal(await at(0), 'error')
  expired = null
  assert.equal(await at(15), 'error')
  assert.equal(await at(30), 'ok')
})

const REFUSALS: readonly [what: string, live: Reply, said: RegExp, reason: string][] = [
  [
    '403 over quota',
    googleError(403, 'Quota exceeded', 'rateLimitExceeded', 'usageLimits'),
    /quota of the Tag Manager API is used up/,
    'quota',
  ],
  [
    '429',
    { status: 429, json: { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } } },
    /quota of the Tag Manager API is used up/,
    'quota',
  ],
  [
    '403 without permission',
    googleError(403, 'Insufficient permission', 'insufficientPermissions'),
    /may not read this \(403\): Insufficient permission/,
    'forbidden',
  ],
  [
    '403 because the API is off',
    googleError(403, 'Tag Manager API has not been used', 'accessNotConfigured', 'usageLimits'),
    /not enabled in the Google Cloud project/,
    'api_disabled',
  ],
  ['500', { status: 500, text: 'oops' }, /Tag Manager API answers 500/, 'unavailable'],
  ['malformed JSON', { text: '{"containerVersionId": "7"' }, /something that is not a JSON object/, 'bad_answer'],
  ['a version without a number', json({ name: 'x' }), /a version without a number/, 'bad_answer'],
  ['a huge body', { text: `{"a":"${'x'.repeat(5_000_000)}"}` }, /more than 4 MB/, 'bad_answer'],
]

for (const [what, live, said, reason] of REFUSALS) {
  test(`${what} from the API is an error with the reason ${reason}`, async (t) => {
    const outcome = await runAgainst(t, live)
    assert.equal(outcome.status, 'error')
    assert.match(outcome.message, said)
    assert.equal((outcome.details.server as Record<string, unknown>).reason, reason)
  })
}

test('after a refusal over quota nothing more is asked for a while', async (t) => {
  const google = await googleServer(
    t,
    SCOPE,
    tagManager(googleError(403, 'Quota exceeded', 'userRateLimitExceeded', 'usageLimits')),
  )
  await run(t, google.url, google.credentials)
  const before = google.asked.length
  const outcome = await run(t, google.url, google.credentials)
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /quota is used up: 1 request waits, the next may be sent in \d+ s/)
  assert.equal(google.asked.length, before)
})

test("while Google's quota is used up, the last reading counts for a day, and its age is said", async (t) => {
  let live = version('7')
  const google = await googleServer(
    t,
    SCOPE,
    tagManager(() => live),
  )
  const { memory = {} } = await run(t, google.url, google.credentials)
  live = googleError(403, 'Quota exceeded', 'dailyLimitExceeded', 'usageLimits')
  const later = await run(t, google.url, google.credentials, { memory, now: NOW + 3 * HOUR })
  assert.deepEqual(
    [later.status, later.message],
    ['ok', `Server container ${SERVER} is at version 7; read 3 h ago, as the quota of the Tag Manager API is used up`],
  )
  const { name, read_at } = later.details.server as Record<string, unknown>
  assert.deepEqual([name, read_at], ['Spring sale', '2026-11-20T10:00:00.000Z'])
  const after = { memory: later.memory ?? {}, now: NOW + 24 * HOUR }
  assert.equal((await run(t, google.url, google.credentials, after)).status, 'error')
})

test('a reading that a later answer of Google contradicts no longer counts when the quota is used up', async (t) => {
  const gone = googleError(404, 'Not found or permission denied.', 'notFound')
  const denied = googleError(403, 'The caller does not have permission', 'forbidden')
  const quota = googleError(403, 'Quota exceeded', 'dailyLimitExceeded', 'usageLimits')
  for (const [answer, status] of [
    [gone, 'critical'],
    [denied, 'error'],
  ] as const) {
    let live = version('7')
    const google = await googleServer(
      t,
      SCOPE,
      tagManager(() => live),
    )
    const { memory = {} } = await run(t, google.url, google.credentials)
    live = answer
    const bad = await run(t, google.url, google.credentials, { memory, now: NOW + 3 * HOUR })
    assert.equal(bad.status, status)
    live = quota
    const later = await run(t, google.url, google.credentials, { memory: bad.memory ?? {}, now: NOW + 4 * HOUR })
    assert.equal(later.status, 'error', later.message)
  }
})

test('many containers share the quota of a day: each is read again when its turn has come', async (t) => {
  const google = await googleServer(t, SCOPE, tagManager())
  const { memory = {} } = await run(t, google.url, google.credentials)
  for (let other = 2; other <= 200; other++) {
    await run(t, google.url, google.credentials, {
      site: siteRow({ tag_manager_server_container_id: `GTM-N${other}` }),
    })
  }
  const before = google.asked.length
  const early = await run(t, google.url, google.credentials, { memory, now: NOW + 15 * MINUTE })
  assert.equal(
    early.message,
    `Server container ${SERVER} is at version 7; read 15 min ago, as 200 containers share the quota of the Tag Manager API`,
  )
  assert.equal(google.asked.length, before)
  const due = await run(t, google.url, google.credentials, { memory: early.memory ?? {}, now: NOW + 33 * MINUTE })
  assert.deepEqual([due.status, google.asked.length], ['ok', before + 1])
})

test('a token that was revoked is an error once, then there is a new one', async (t) => {
  const google = await googleServer(t, SCOPE, tagManager())
  await run(t, google.url, google.credentials)
  google.revoke()
  const refused = await run(t, google.url, google.credentials)
  assert.equal(refused.status, 'error')
  assert.match(refused.message, /does not accept the service account/)
  assert.equal((await run(t, google.url, google.credentials)).status, 'ok')
})

const BAD_KEYS: readonly [what: string, key: () => string, said: RegExp][] = [
  [
    'a key of another account',
    otherKey,
    /does not accept the service account .* \(400\): Invalid JWT Signature\. If its key was replaced, set GOOGLE_CREDENTIALS to the new one/,
  ],
  ['a key that is none', () => '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END', /private key of .* cannot be read/],
]

for (const [what, key, said] of BAD_KEYS) {
  test(`${what} is an error that does not reveal the key`, async (t) => {
    const google = await googleServer(t, SCOPE, tagManager())
    const private_key = key()
    const outcome = await run(t, google.url, { ...google.credentials, private_key })
    assert.equal(outcome.status, 'error')
    assert.match(outcome.message, said)
    assert.ok(!JSON.stringify(outcome).includes(private_key.split('\n')[1] ?? 'no key'))
  })
}

test("a clock that is wrong is named where Google refuses what it signed, instead of the account's key", async (t) => {
  const google = await googleServer(t, SCOPE, tagManager())
  const outcome = await run(t, google.url, google.credentials, { now: NOW - 3 * HOUR })
  assert.match(outcome.message, /reasonable timeframe\. This server's clock is wrong: set it, and let NTP keep it$/)
})

test('a page instead of a token is no refusal of the account', async (t) => {
  const google = await googleServer(t, SCOPE, tagManager())
  const portal = await httpServer(t, (_request, response) => response.writeHead(403).end('<h1>Sign in to go on</h1>'))
  const credentials = { ...google.credentials, token_uri: `http://127.0.0.1:${portal.port}/token` }
  const outcome = await run(t, google.url, credentials)
  assert.equal((outcome.details.server as Record<string, unknown>).reason, 'bad_answer')
  assert.match(outcome.message, /Google's token server answers 403 without an error of Google's/)
})

test('a token server that cannot be reached is an error that is tried again', async (t) => {
  const google = await googleServer(t, SCOPE, tagManager())
  const outcome = await run(t, google.url, { ...google.credentials, token_uri: await deadAddress() })
  assert.deepEqual([outcome.status, outcome.isNetworkFailure], ['error', true])
  assert.match(outcome.message, /Google's token server did not answer/)
})

test('an API that cannot be reached is an error that is tried again', async (t) => {
  const google = await googleServer(t, SCOPE, tagManager())
  const outcome = await run(t, await deadAddress(), google.credentials)
  assert.deepEqual([outcome.status, outcome.isNetworkFailure], ['error', true])
})

test('without credentials a site with nothing but a server container gets an error', async (t) => {
  const outcome = await run(t, 'http://127.0.0.1:9', null)
  assert.equal(outcome.status, 'error')
  assert.match(outcome.message, /No Google service account is set up: set GOOGLE_CREDENTIALS_FILE/)
})

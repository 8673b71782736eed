import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readGtmJs } from '../../../src/probes/tag-server/health.ts'
import { errorText, regionsOf } from '../../../src/probes/tag-server/hosting-a.ts'
import { readContainer, readDomains, readWords } from '../../../src/probes/tag-server/hosting-a-answers.ts'
import { meaningOf } from '../../../src/probes/tag-server/hosting-api.ts'

const MEANINGS: readonly [meaning: ReturnType<typeof meaningOf>, labels: readonly string[]][] = [
  ['ok', ['Running', ' active ', 'ACTIVE', 'up', 'ready', 'Up and running', 'healthy', 'ok']],
  [
    'warning',
    ['Deploying', 'updating', 'pending', 'In progress', 'Waiting for DNS', 'DEPLOY_PENDING pending', 'degraded'],
  ],
  ['critical', ['Stopped', 'disabled', 'error', 'Not running', 'inactive', 'unhealthy', 'Deployment failed', 'down']],
  [null, ['', 'frobbing', '3', 'runningly']],
]
for (const [meaning, labels] of MEANINGS) {
  for (const label of labels) {
    test(`"${label}" means ${meaning ?? 'nothing that is known'}`, () => assert.equal(meaningOf(label, []), meaning))
  }
}

test('what people call fine is, in any case', () => {
  assert.equal(meaningOf('Not Running', ['not running ']), 'ok')
  assert.equal(meaningOf('', ['']), 'ok')
})

for (const label of ['No error', 'none', 'OK', '0', 'no_errors', 'Without error']) {
  test(`"${label}" is the error that says that there is none`, () => {
    assert.equal(errorText({ type: '1', label }, {}), null)
  })
}

test('an error is shown in the legend’s words, or as it is', () => {
  assert.equal(errorText({ type: '7', label: null }, { 7: 'No CNAME' }), 'No CNAME')
  assert.equal(errorText({ type: '7', label: null }, {}), '7')
  assert.equal(errorText({ type: null, label: null }, {}), null)
  assert.equal(errorText(null, {}), null)
})

const NOTHING = {
  name: null,
  status: { type: null, label: null },
  zone: null,
  warnings: [],
  requestsLimit: null,
  usage: null,
  isLimitExceeded: false,
  minReplicas: null,
  maxReplicas: null,
}
for (const answer of [
  null,
  'text',
  7,
  [],
  {},
  { body: null },
  { body: { status: [], warnings: {}, subscription: 3 } },
]) {
  test(`${JSON.stringify(answer)} is a container of which nothing is known`, () => {
    assert.deepEqual(readContainer(answer), NOTHING)
    assert.deepEqual(readDomains(answer), Array.isArray(answer) ? [] : null)
    assert.deepEqual(readWords(answer), {})
  })
}

test('answers are read with and without their wrapping', () => {
  const container = { name: 'Shop', status: 'running', zone: { label: 'EU' }, todayUsage: 5, requestsLimit: 10 }
  const facts = {
    ...NOTHING,
    name: 'Shop',
    status: { type: 'running', label: null },
    zone: 'EU',
    usage: 5,
    requestsLimit: 10,
  }
  assert.deepEqual(readContainer({ body: container }), facts)
  assert.deepEqual(readContainer(container), facts)
  assert.deepEqual(readWords([{ type: 1, label: 'One' }, { type: 'b', label: 'Two' }, { type: 2 }, 'x']), {
    1: 'One',
    b: 'Two',
  })
})

test('the host’s usual address stands for its two regions, and another for itself', () => {
  assert.deepEqual(regionsOf('https://api.app.stape.io/api/v2'), [
    'https://api.app.stape.io/api/v2',
    'https://api.app.eu.stape.io/api/v2',
  ])
  assert.deepEqual(regionsOf('https://api.app.eu.stape.io/api/v2'), ['https://api.app.eu.stape.io/api/v2'])
  assert.deepEqual(regionsOf('http://127.0.0.1:8080'), ['http://127.0.0.1:8080'])
})

test('a word of a host is cut, however long its answer is: words are kept with the result and with the probe', () => {
  const long = 'x'.repeat(500_000)
  const { status } = readContainer({ body: { status: long } })
  assert.equal(status.type?.length, 200)
  assert.deepEqual(readWords([{ type: long, label: long }]), { ['x'.repeat(200)]: 'x'.repeat(200) })
})

test('the content type of a script is cut before it is shown', () => {
  const headers = { 'content-type': 'y'.repeat(30_000) }
  const { details, answered } = readGtmJs('https://t.example/gtm.js', { status: 200, headers, body: '' })
  assert.equal(details.content_type?.length, 200)
  assert.ok(answered.length < 400)
})

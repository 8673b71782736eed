import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MESSAGE_MAX, type PushCall, readCall } from '../../../src/probes/push/said.ts'

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json; charset=utf-8'
const read = (call: Partial<PushCall>) =>
  readCall({ signal: undefined, query: {}, body: undefined, contentType: '', ...call })

const CALLS: readonly [what: string, call: Partial<PushCall>, status: string, message: string][] = [
  ['nothing', {}, 'ok', ''],
  ['a status', { query: { status: 'warning', message: '3 left' } }, 'warning', '3 left'],
  ['a status in capitals', { query: { status: 'CRITICAL' } }, 'critical', ''],
  ['an empty status', { query: { status: '' } }, 'ok', ''],
  ['what Uptime Kuma sends', { query: { status: 'down', msg: 'No route', ping: '' } }, 'critical', 'No route'],
  ['up', { query: { status: 'up', msg: 'OK', ping: '12' } }, 'ok', 'OK'],
  ['/fail', { signal: 'fail', query: { status: 'ok' } }, 'critical', ''],
  ['/start', { signal: 'start' }, 'start', ''],
  ['exit status 0', { signal: '0' }, 'ok', ''],
  ['exit status 137', { signal: '137', body: 'Killed\n' }, 'critical', 'Killed'],
  ['text', { body: 'line one\nline two\r\n', contentType: 'text/plain' }, 'ok', 'line one line two'],
  ['text of no type', { body: 'done' }, 'ok', 'done'],
  ["curl's -d with text", { body: 'backup = done & gone', contentType: FORM }, 'ok', 'backup = done & gone'],
  ['a form', { body: 'status=warning&message=a+b%21', contentType: FORM }, 'warning', 'a b!'],
  [
    'a form that begins with the duration',
    { body: 'ping=12&status=down&msg=no+route', contentType: FORM },
    'critical',
    'no route',
  ],
  ['a form with fields of its own', { body: 'job=a%20b&host=&status=down', contentType: FORM }, 'critical', ''],
  [
    "curl's -d with text that has a field inside",
    { body: 'a b&status=down', contentType: FORM },
    'ok',
    'a b&status=down',
  ],
  ['JSON', { body: '{"status":"critical","message":"no","more":[1]}', contentType: JSON_TYPE }, 'critical', 'no'],
  ['JSON of one text', { body: '"fine"', contentType: JSON_TYPE }, 'ok', 'fine'],
  ['JSON of other things', { body: '[{"status":"critical"}]', contentType: JSON_TYPE }, 'ok', ''],
  ['JSON of other types', { body: '{"message":7,"msg":{}}', contentType: JSON_TYPE }, 'ok', ''],
  [
    'an address and a body',
    { query: { status: 'ok' }, body: '{"status":"warning","message":"m"}', contentType: JSON_TYPE },
    'ok',
    'm',
  ],
  [
    'an empty parameter and a body',
    { query: { status: '' }, body: '{"status":"warning","message":"m"}', contentType: JSON_TYPE },
    'warning',
    'm',
  ],
  ['a form with an empty status', { body: 'status=&message=m', contentType: FORM }, 'ok', 'm'],
  ['text that looks like a form', { body: 'status=critical', contentType: 'text/plain' }, 'ok', 'status=critical'],
  ['blanks where JSON is due', { body: ' \n', contentType: JSON_TYPE }, 'ok', ''],
  ['a parameter twice', { query: { message: ['a', 'b'] } }, 'ok', ''],
  ['NUL and controls', { query: { message: 'a\0b\x1b[31mc\x07' } }, 'ok', 'a\ufffdb [31mc'],
  ['half a pair', { query: { message: 'a\ud800' } }, 'ok', 'a\ufffd'],
  ['turned text', { query: { message: 'a\u202eb\u2066c\u200bd' } }, 'ok', 'a b c d'],
  ['markup', { query: { message: '<b onclick=x>&amp;</b>' } }, 'ok', '<b onclick=x>&amp;</b>'],
]
for (const [what, call, status, message] of CALLS) {
  test(`a call with ${what} says ${status}`, () => {
    const said = read(call)
    assert.deepEqual([said.status, said.message], [status, message])
  })
}

test('of a long text the end is kept, in whole characters', () => {
  for (const text of ['x'.repeat(60_000), '😀'.repeat(9_000), `${'\n'.repeat(50_000)}y`.repeat(1)]) {
    const { message } = read({ body: text })
    assert.ok(Array.from(message).length <= MESSAGE_MAX, String(message.length))
    assert.ok(message.startsWith('…') && message.isWellFormed())
    assert.equal(Array.from(message).at(-1), Array.from(text).at(-1))
  }
  const longest = 'x'.repeat(MESSAGE_MAX)
  assert.equal(read({ body: longest }).message, longest)
  assert.equal(read({ body: `a${longest}` }).message, `…${longest.slice(1)}`)
})

test('what a job said before thousands of blank lines is kept', () => {
  assert.equal(read({ body: `disk full${'\r\n '.repeat(2_000)}` }).message, 'disk full')
})

test('a duration counts where it is one', () => {
  const durations = ['1200.4', '-1', 'NaN', '1e99', ' ', '0'].map((ping) => read({ query: { ping } }).durationMs)
  assert.deepEqual(durations, [1_200, null, null, null, 0, 0])
  const inBody = ['12', '"12"', 'null', '[12]', 'true'].map((ping) => `{"ping":${ping}}`)
  const ofBodies = inBody.map((body) => read({ body, contentType: JSON_TYPE }).durationMs)
  assert.deepEqual(ofBodies, [12, 12, null, null, null])
})

test('a status that is none, and JSON that is none, are refused in words', () => {
  assert.throws(() => read({ query: { status: 'fine' } }), /\/status must be one of ok, warning, critical/)
  assert.throws(() => read({ query: { status: 'constructor' } }), /\/status must be one of/)
  for (const status of ['{"toString":1}', '["ok"]', 'null', '7']) {
    const body = `{"status":${status}}`
    assert.throws(() => read({ body, contentType: JSON_TYPE }), /\/status must be one of ok, warning, critical/)
  }
  assert.throws(() => read({ body: '{', contentType: JSON_TYPE }), /must have JSON as its body/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IngestAnswer } from '../../src/cli/post.ts'
import { answerLine, explainAnswer, summaryOf } from '../../src/cli/send.ts'
import { systemClock } from '../../src/lib/index.ts'
import { deadAddress, startAnswering } from '../../testkit/listeners.ts'
import { runCliHere } from '../../testkit/processes/command-here.ts'
import { runCli } from '../../testkit/processes/command-line.ts'
import { startTestService } from '../../testkit/service.ts'

interface Overview {
  total_events: number
  events: { event_name: string; total: number }[]
}

test('send posts an event that counts', async (t) => {
  const api = await startTestService(t, systemClock)
  const site = await api.newSite(await api.newClient())
  const { code, out, err } = await runCli(t, ['send', '--endpoint', `${api.url}/ingest`, '--key', site.ingest_key])
  assert.deepEqual({ code, err, lines: out.length }, { code: 0, err: [], lines: 1 })
  assert.match(out[0] ?? '', /^200 \{"status":"ok"\} \d+(\.\d)? ms$/)
  await api.service.ingest.flush()
  const overview = await api.call('GET', `/api/monitoring/sites/${site.id}/overview`)
  assert.deepEqual(overview.json<Overview>().events, [{ event_name: 'purchase', total: 1 }])
})

test('send posts batches, under the event name and to the address asked for', async (t) => {
  const api = await startTestService(t, systemClock)
  const site = await api.newSite(await api.newClient())
  const args = ['--mode', 'batched', '--event-name', 'sign_up', '--endpoint', `${api.url}/api/ingest`]
  const { code } = await runCliHere(t, ['send', '--key', site.ingest_key, ...args])
  assert.equal(code, 0)
  await api.service.ingest.flush()
  const overview = await api.call('GET', `/api/monitoring/sites/${site.id}/overview`)
  assert.deepEqual(overview.json<Overview>().events, [{ event_name: 'sign_up', total: 20 }])
})

test('send of several prints a line for each and a summary', async (t) => {
  const api = await startTestService(t, systemClock)
  const site = await api.newSite(await api.newClient())
  const args = ['--count', '5', '--endpoint', `${api.url}/ingest`]
  const { code, out } = await runCliHere(t, ['send', '--key', site.ingest_key, ...args])
  assert.equal(code, 0)
  assert.equal(out.length, 6)
  assert.match(out[5] ?? '', /^5 of 5 answered, 5 accepted; fastest .* ms, median .* ms, slowest .* ms$/)
})

test('send puts the key into the header asked for', async (t) => {
  const api = await startTestService(t, systemClock, { INGEST_KEY_HEADERS: 'X-Other-Key' })
  const site = await api.newSite(await api.newClient())
  const args = ['send', '--key', site.ingest_key, '--endpoint', `${api.url}/ingest`]
  assert.equal((await runCliHere(t, args)).code, 1)
  assert.equal((await runCliHere(t, [...args, '--key-header', 'x-other-key'])).code, 0)
})

test('send explains a refusal, stops there, and ends with code 1', async (t) => {
  const api = await startTestService(t, systemClock)
  const site = await api.newSite(await api.newClient())
  await api.call('PATCH', `/api/sites/${site.id}`, { is_active: false })
  const endpoint = ['--endpoint', `${api.url}/ingest`]

  const unknown = await runCliHere(t, ['send', '--key', 'wrong', '--count', '3', ...endpoint])
  assert.equal(unknown.code, 1)
  assert.match(
    unknown.out.join('\n'),
    /^401 \{"error":"unauthorized"\} .*\n1 of 3 answered, 0 accepted, 1 refused with 401/,
  )
  assert.match(unknown.err.join('\n'), /^tagwarden: no site has this key.*X-Service-Key.*$/)

  const inactive = await runCliHere(t, ['send', '--key', site.ingest_key, ...endpoint])
  assert.equal(inactive.code, 1)
  assert.match(inactive.err.join('\n'), /^tagwarden: the site or its client is paused.*$/)
})

test('send of several keeps to the rate of the plan', async (t) => {
  const api = await startTestService(t, systemClock)
  const site = await api.newSite(await api.newClient({ requests_per_second: 1 }))
  const args = ['--count', '4', '--endpoint', `${api.url}/ingest`]
  const { code, out, err } = await runCliHere(t, ['send', '--key', site.ingest_key, ...args])
  assert.deepEqual({ code, err }, { code: 0, err: [] })
  assert.match(out.at(-1) ?? '', /^4 of 4 answered, 4 accepted;/)
})

test('send stops where waiting would take too long, and says how long', async (t) => {
  let asked = 0
  const full = await startAnswering(t, (_request, response) => {
    asked++
    response.writeHead(429, { 'retry-after': '86400' }).end('{"error":"rate_limited"}')
  })
  const { code, out, err } = await runCliHere(t, ['send', '--key', 'k', '--count', '4', '--endpoint', `${full}/ingest`])
  assert.equal(code, 1)
  assert.match(out.at(-1) ?? '', /^1 of 4 answered, 0 accepted, 1 refused with 429/)
  assert.match(err.join('\n'), /^tagwarden: the client's plan allows no more at the moment: wait 86400 s/)
  assert.equal(asked, 1)
})

test('send says when nothing listens, and when something else answers', async (t) => {
  const dead = await deadAddress()
  const unanswered = await runCli(t, ['send', '--key', 'k', '--endpoint', `${dead}/ingest`])
  assert.deepEqual(
    { code: unanswered.code, out: unanswered.out, lines: unanswered.err.length },
    { code: 1, out: [], lines: 1 },
  )
  assert.match(unanswered.err[0] ?? '', /^tagwarden: no answer from .*: nothing listens there/)

  const page = await startAnswering(t, (_request, response) => response.end('<html>\n  Welcome\n</html>'))
  const other = await runCliHere(t, ['send', '--key', 'k', '--endpoint', `${page}/ingest`])
  assert.equal(other.code, 1)
  assert.match(other.out.join('\n'), /^200 <html> Welcome <\/html> /)
  assert.match(other.err.join('\n'), /not an answer of Tagwarden/)
})

test('send that gets no more answers still says how many payloads were accepted', async (t) => {
  let asked = 0
  const dying = await startAnswering(t, (request, response) => {
    asked++
    if (asked > 2) request.socket.destroy()
    else response.end('{"status":"ok"}')
  })
  const { code, out, err } = await runCliHere(t, [
    'send',
    '--key',
    'k',
    '--count',
    '5',
    '--endpoint',
    `${dying}/ingest`,
  ])
  assert.equal(code, 1)
  assert.match(out.at(-1) ?? '', /^2 of 5 answered, 2 accepted;/)
  assert.match(err.join('\n'), /^tagwarden: no answer from /)
})

const TARGET = { endpoint: 'http://127.0.0.1/other', keyHeader: 'X-Service-Key', key: 'k' }
const answer = (status: number, over: Partial<IngestAnswer> = {}): IngestAnswer => ({
  status,
  body: status === 200 ? '{"status":"ok"}' : '{"error":"x"}',
  retryAfter: null,
  ms: 12.34,
  ...over,
})

test('a yes needs no explanation', () => {
  assert.equal(explainAnswer(answer(200), TARGET), null)
})

const EXPLANATIONS: readonly [answer: IngestAnswer, says: RegExp][] = [
  [answer(400), /payload is refused.*\/recent/],
  [answer(401), /no site has this key.*X-Service-Key/],
  [answer(403), /paused.*revoked or expired.*add another with POST \/api\/sites\/\{site_id\}\/keys/],
  [answer(404), /no ingest at http:\/\/127\.0\.0\.1\/other/],
  [answer(413), /larger than 1 MB/],
  [answer(429, { retryAfter: '7' }), /wait 7 s/],
  [answer(500), /could not store it.*\/ready/],
  [answer(301), /not an answer of Tagwarden/],
  [answer(200, { body: 'hello' }), /not an answer of Tagwarden/],
]

for (const [given, says] of EXPLANATIONS) {
  test(`an answer ${given.status} ${given.body} is explained`, () => {
    assert.match(explainAnswer(given, TARGET) ?? '', says)
  })
}

test('a key or an address that cannot be sent is refused in one line, without the password', async (t) => {
  const endpoint = ['--endpoint', `${await deadAddress()}/ingest`]
  const key = await runCliHere(t, ['send', '--key', 'schlüssel-€', ...endpoint])
  assert.deepEqual([key.code, key.err.length], [1, 1])
  assert.match(key.err[0] ?? '', /^tagwarden: --key has characters that no key has: copy ingest_key /)
  // As from a variable of the shell that is not set.
  const empty = await runCliHere(t, ['send', '--key', '', ...endpoint])
  assert.deepEqual([empty.code, empty.err], [1, ['tagwarden: --key is empty: copy ingest_key from GET /api/sites']])
  const address = await runCliHere(t, ['send', '--key', 'k', '--endpoint', 'http://ada:s3cret@127.0.0.1:9/ingest'])
  assert.deepEqual(address, {
    ...address,
    ...{
      code: 1,
      err: ['tagwarden: --endpoint has a user or a password: the tag sends none, so give it without them'],
    },
  })
})

test('a long body is cut and stays on one line', () => {
  const line = answerLine(answer(200, { body: `a\nb${'c'.repeat(500)}` }))
  assert.match(line, /^200 a bc+… 12 ms$/)
  assert.ok(line.length < 250)
})

test('an answer cannot send escapes to the terminal', () => {
  const line = answerLine(answer(200, { body: '\u001b]0;title\u0007\u001b[2Jgone\u009b1m' }))
  assert.equal(line, '200 ]0;title [2Jgone 1m 12 ms')
})

test('neither can a refusal that ends a command', async (t) => {
  const message = '\u001b]0;title\u0007\u001b[2Jgone'
  const url = await startAnswering(t, (_request, response) =>
    response.writeHead(403).end(JSON.stringify({ error: 'forbidden', message, details: [] })),
  )
  const { code, err } = await runCliHere(t, ['export', '--url', url])
  assert.deepEqual({ code, err }, { code: 1, err: ['tagwarden:  ]0;title  [2Jgone'] })
})

test('the summary counts answers by what they were', () => {
  const answers = [answer(200, { ms: 1 }), answer(429, { ms: 30 }), answer(200, { ms: 2.34 }), answer(429, { ms: 4 })]
  assert.equal(
    summaryOf(answers, 9),
    '4 of 9 answered, 2 accepted, 2 refused with 429; fastest 1.0 ms, median 4.0 ms, slowest 30 ms',
  )
})

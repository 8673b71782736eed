import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { type ApiClient, apiClient, type SiteKey } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { tempDir } from '../../testkit/engines.ts'
import { amount, inTurn } from '../../testkit/length.ts'
import { startServerProcess } from '../../testkit/processes/server-process.ts'
import { Session } from '../../testkit/processes/session.ts'
import { until } from '../../testkit/until.ts'
import { overloadChecks } from '../overload/outcome.ts'
import { overload } from '../overload/overload.ts'

/** Without waiting for answers over one connection: fewer than end it. */
const TIMES = 200
const OK = 'HTTP/1.1 200'
const UNAVAILABLE = 'HTTP/1.1 503'

/** Sends the request so many times over one connection, without waiting for answers; the answers. */
async function sendAtOnce(url: string, request: string, times: number): Promise<string[]> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  let text = ''
  const answers = () => text.split(/(?=HTTP\/1\.1 \d{3} )/)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece
    // Each answer ends with the brace of its body.
    if (text.endsWith('}') && answers().length >= times) resolve()
  })
  socket.on('error', reject).on('close', () => {
    const [last, ...others] = answers().reverse()
    reject(new Error(`closed after ${others.length + 1} of ${times} answers, the last of them ${last}`))
  })
  socket.write(request.repeat(times))
  await promise
  socket.destroy()
  assert.equal(answers().length, times, 'an answer for each')
  return answers()
}

function requestFor(site: SiteKey): string {
  const body = JSON.stringify(eventPayload({ timestamp_ms: Date.now() }))
  const head = [
    'POST /ingest HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `X-Service-Key: ${site.ingest_key}`,
    `Content-Length: ${body.length}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

async function countOf(api: ApiClient, site: SiteKey): Promise<number> {
  const overview = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=24`)
  return overview.json<{ total_events: number }>().total_events
}

test(
  'what comes beyond all room is refused with 503 and a time, and what is accepted is counted',
  inTurn(0, 3),
  async (t) => {
    const { url } = await startServerProcess(t, await tempDir(t))
    const api = apiClient(url)
    const site = await api.newSite(await api.newClient())
    const request = requestFor(site)

    const answers: string[] = []
    // How many requests are too many is the machine's: twice as many each time, until some are refused.
    let connections = 64
    const refused = await until('a refusal', async () => {
      const [strangers, ...bursts] = await Promise.all([
        sendAtOnce(url, requestFor({ ...site, ingest_key: 'wrong' }), TIMES),
        ...Array.from({ length: connections }, () => sendAtOnce(url, request, TIMES)),
      ])
      answers.push(...bursts.flat())
      // A wrong key is answered as one, whatever else there is to do.
      assert.ok(strangers?.every((answer) => answer.startsWith('HTTP/1.1 401')))
      connections *= 2
      const found = answers.filter((answer) => answer.startsWith(UNAVAILABLE))
      return found.length > 0 ? found : undefined
    })
    for (const answer of refused) {
      assert.match(answer, /\r\nRetry-After: 1\r\n/)
      assert.ok(answer.endsWith('{"error":"unavailable"}'), answer)
    }
    const accepted = answers.filter((answer) => answer.startsWith(OK)).length
    assert.equal(accepted + refused.length, answers.length)
    assert.equal((await api.call('GET', '/ready')).status, 200)

    await until('all are let in again', async () => {
      const again = await sendAtOnce(url, request, 20)
      answers.push(...again)
      return again.every((answer) => answer.startsWith(OK)) ? true : undefined
    })
    const expected = answers.filter((answer) => answer.startsWith(OK)).length
    await until('all of it counted', async () => ((await countOf(api, site)) >= expected ? true : undefined))
    assert.equal(await countOf(api, site), expected)
    const metrics = (await api.call('GET', '/metrics')).text
    const unavailable = answers.length - expected
    assert.ok(metrics.includes(`tagwarden_ingest_requests_total{result="unavailable"} ${unavailable}`), metrics)
  },
)

/** What a short run on a machine that does other things cannot tell. */
const NOT_IN_SECONDS = /p99|share|recovery/

test('with three times what it can take, nothing that was answered is lost', inTurn(2, 3), async (t) => {
  const session = new Session()
  t.after(() => session.close())
  const result = await overload(session, {
    peakSeconds: 1,
    calmSeconds: 1,
    seconds: amount(2, 20),
    connections: [700],
    sites: 20,
    progress: (text) => t.diagnostic(text),
  })
  const missed = overloadChecks(result).filter(({ what, reached }) => !reached && !NOT_IN_SECONDS.test(what))
  assert.deepEqual(missed, [])
  assert.ok(result.counted.accepted > 0)
})

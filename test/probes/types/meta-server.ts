import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { httpServer } from '../../outbound/support.ts'

export const TOKEN = `EAABtest${'z0Y9'.repeat(20)}`
export const DATASET = '1234567890123456'

/** What was asked, as far as a test looks at it. */
export interface AskedMeta {
  url: string
  fields: string
  headers: IncomingHttpHeaders
}

/** How Graph says no: mostly with 400, and a code of its own. */
export const graphError = (code: number, message: string, more: object = {}) => ({
  error: { message, type: 'OAuthException', code, fbtrace_id: 'Abc', ...more },
})

/** An event as the Dataset Quality API answers it, with what this program does not read. */
export const quality = (event_name: string, over: object = {}) => ({
  event_name,
  event_match_quality: {
    composite_score: 7.4,
    match_key_feedback: [{ identifier: 'email', coverage: { percentage: 91.2 } }],
  },
  event_coverage: { percentage: 82.5, goal_percentage: 75, description: 'covered' },
  data_freshness: { upload_frequency: 'real_time', description: 'average' },
  ...over,
})

/** Of a pixel that no server sends to. */
export const browserOnly = (event_name: string) => ({
  event_name,
  event_coverage: { percentage: 0, goal_percentage: 75 },
})

/** A Graph API of version 25: keys go in a header, and a question about fields that it does not have is refused as a whole. */
export async function metaServer(t: TestContext, events: readonly object[], unknownFields: readonly string[] = []) {
  return graphServer(t, ({ headers, url, fields }, response) => {
    const reply = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body))
    const query = new URL(url, 'http://graph').searchParams
    if (headers.authorization !== `Bearer ${TOKEN}`) return reply(400, graphError(190, 'Invalid OAuth access token.'))
    if (!url.startsWith('/v25.0/dataset_quality?') || query.get('dataset_id') !== DATASET) {
      return reply(400, graphError(100, 'Unsupported get request', { error_subcode: 33 }))
    }
    const unknown = unknownFields.find((field) => fields.split(/[{},]/).includes(field))
    if (unknown === undefined) return reply(200, { web: events })
    const message = `(#100) Tried accessing nonexistent field (${unknown}) on node type (AdsPixelDatasetQuality)`
    return reply(400, graphError(100, message))
  })
}

/** Answers as the test says. */
export async function graphServer(t: TestContext, answer: (asked: AskedMeta, response: ServerResponse) => unknown) {
  const asked: AskedMeta[] = []
  const { port } = await httpServer(t, (request, response) => {
    const url = request.url ?? ''
    const fields = new URL(url, 'http://graph').searchParams.get('fields') ?? ''
    const one = { url, fields, headers: request.headers }
    asked.push(one)
    answer(one, response)
  })
  return { asked, settings: { metaApiUrl: `http://127.0.0.1:${port}/v25.0` } }
}

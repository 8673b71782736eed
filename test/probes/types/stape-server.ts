import type { TestContext } from 'node:test'
import { httpServer } from '../../outbound/support.ts'

export const KEY = 'stape-key-0123456789'
export const CONTAINER = 'abcdefgh'

const option = (type: number, label: string) => ({ type, label })

/** A container as the API answers it, with the keys that must never be shown. */
export const container = (over: object = {}) => ({
  name: 'Shop',
  identifier: CONTAINER,
  status: option(3, 'Running'),
  zone: { type: 'euw', label: 'EU West', ip: '192.0.2.10' },
  warnings: [],
  apiKey: 'container-s3cret',
  serviceAccountCredentials: 'account-s3cret',
  minReplicaCount: 1,
  maxReplicaCount: 3,
  requestsLimit: 500_000,
  todayUsage: 4_000,
  subscription: { usageCount: 60_000, limitExceeded: false },
  ...over,
})

export const domain = (over: object = {}) => ({
  name: 'sst.shop.example',
  status: option(2, 'Ready'),
  error: null,
  records: [{ type: { type: 'cname', label: 'CNAME' }, host: 'sst', value: 'eu.stape.example' }],
  sslKey: 'ssl-s3cret',
  ...over,
})

export interface Answers {
  container: unknown
  domains: unknown
  legend: Readonly<Record<string, unknown>>
  /** Instead of an answer: a status by path, `*` for all of them. */
  statuses: Readonly<Record<string, number>>
  headers: Readonly<Record<string, string>>
}

/** The API of hosting provider A: answers are wrapped, keys go in a header, a region knows its own containers only. */
export async function stapeServer(t: TestContext, over: Partial<Answers> = {}) {
  const answers: Answers = {
    container: container(),
    domains: [domain()],
    legend: {
      'container-statuses': [option(3, 'Running'), option(4, 'Stopped')],
      'domain-statuses': [option(1, 'Pending'), option(2, 'Ready')],
      'domain-errors': [option(0, 'No error'), option(7, 'CNAME record not found')],
    },
    statuses: {},
    headers: {},
    ...over,
  }
  const asked: { host: string; path: string; workspace: string | undefined }[] = []
  const server = await httpServer(t, (request, response) => {
    const path = request.url ?? ''
    const header = request.headers['x-workspace']
    asked.push({ host: request.headers.host ?? '', path, workspace: Array.isArray(header) ? header[0] : header })
    const reply = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json', ...answers.headers }).end(JSON.stringify(body))
    const status = answers.statuses[path] ?? answers.statuses['*']
    if (status !== undefined) return reply(status, { error: { code: status } })
    if (request.headers['x-auth-token'] !== KEY) return reply(401, { error: { code: 401 } })
    if (path === `/api/v2/containers/${CONTAINER}`) return reply(200, { body: answers.container })
    if (path === `/api/v2/containers/${CONTAINER}/domains`) return reply(200, { body: answers.domains })
    const legend = answers.legend[path.replace('/api/v2/resources/', '')]
    return legend === undefined ? reply(404, { error: { code: 404 } }) : reply(200, { body: legend })
  })
  return {
    answers,
    asked,
    port: server.port,
    settings: { hostingAApiUrl: `http://127.0.0.1:${server.port}/api/v2`, hostingAToken: KEY },
  }
}

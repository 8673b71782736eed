import { ANOTHER_ADDRESS, type Behaviour, type Herd } from './herd.ts'

export interface PressureAttack {
  name: string
  connections: number
  behaviour: Behaviour
  /** The longest p99 of the healthy senders beside it, ms. */
  targetP99Ms: number
  /** What is wrong with how the server took it, or null. */
  fault: (herd: Herd) => string | null
}

export interface PressureTargets {
  /** An ingest key. */
  key: string
  /** A site whose reports take long. */
  siteId: string
}

/** What once blocked all others for seconds: large answers, pipelined or never read. */
const STRICT_MS = 100
const USUAL_MS = 250
const HUNDRED_MB = 104_857_600
/**
 * Many slow connections, each kind alone.
 *
 * @param scale 1 for the full number of connections
 */
export function pressureAttacks({ key, siteId }: PressureTargets, scale = 1): PressureAttack[] {
  const many = (count: number) => Math.max(1, Math.round(count * scale))
  const upload = (headers: string) =>
    `POST /ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Service-Key: ${key}\r\n${headers}\r\n\r\n`
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`
  const onlyStatus = (status: string) => (herd: Herd) => {
    const others = Object.keys(herd.statuses).filter((other) => other !== status)
    if (others.length > 0) return `answered ${others.join(', ')} instead of ${status}`
    return herd.statuses[status] === undefined ? `never answered ${status}` : null
  }
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
  const isCut = (herd: Herd) => (herd.cut === 0 ? 'no connection was cut' : null)
  const stays = (herd: Herd) => (herd.open === 0 ? 'no connection was taken' : null)
  return [
    {
      name: 'headers, a byte a second',
      connections: many(1_000),
      behaviour: { first: 'POST /ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ', drip: 'a', isReading: true },
      targetP99Ms: USUAL_MS,
      fault: stays,
    },
    {
      name: 'idle, without a byte',
      connections: many(5_000),
      behaviour: { first: '', drip: '', isReading: true },
      targetP99Ms: USUAL_MS,
      fault: stays,
    },
    {
      name: 'bodies announced as 100 MB',
      connections: many(500),
      behaviour: { first: upload(`Content-Length: ${HUNDRED_MB}`), drip: ' '.repeat(1_000), isReading: true },
      targetP99Ms: USUAL_MS,
      fault: onlyStatus('413'),
    },
    {
      name: 'chunked bodies without an end, a byte a second',
      connections: many(500),
      behaviour: { first: upload('Transfer-Encoding: chunked'), drip: chunk(1), isReading: true },
      targetP99Ms: USUAL_MS,
      fault: stays,
    },
    {
      name: 'chunked bodies without an end, 200 kB a second',
      connections: many(100),
      behaviour: { first: upload('Transfer-Encoding: chunked'), drip: chunk(200_000), isReading: true },
      targetP99Ms: USUAL_MS,
      fault: stays,
    },
    {
      name: 'large answers that no one reads',
      connections: many(500),
      behaviour: {
        first: get('/api/docs/static/swagger-ui-bundle.js').repeat(20),
        drip: '',
        isReading: false,
      },
      targetP99Ms: STRICT_MS,
      fault: stays,
    },
    {
      name: 'event streams that no one reads',
      connections: many(400),
      behaviour: { first: get('/api/stream'), drip: '', isReading: false },
      targetP99Ms: USUAL_MS,
      fault: stays,
    },
    {
      name: '20,000 requests in one go for the OpenAPI document',
      connections: 1,
      behaviour: { first: get('/api/openapi.json').repeat(20_000), drip: '', isReading: true, from: ANOTHER_ADDRESS },
      targetP99Ms: STRICT_MS,
      fault: isCut,
    },
    {
      name: '20,000 requests in one go for `/metrics`, none read',
      connections: 1,
      behaviour: { first: get('/metrics').repeat(20_000), drip: '', isReading: false },
      targetP99Ms: STRICT_MS,
      // Who does not read does not see that it is cut. What it costs is judged: the memory, and how the others are served.
      fault: stays,
    },
    {
      name: 'long reports of one address, again and again',
      connections: many(100),
      behaviour: {
        first: get(`/api/monitoring/sites/${siteId}/overview?hours=9600`).repeat(20),
        drip: '',
        isReading: true,
      },
      targetP99Ms: USUAL_MS,
      fault: stays,
    },
  ]
}

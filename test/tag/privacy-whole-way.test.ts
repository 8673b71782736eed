import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import type { OtherTag, Plain } from '../../tag/sandbox/index.ts'
import { TestClock } from '../../testkit/clock.ts'
import { placeFor, sqlite } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { rowsByTable, writeAheadLog } from '../../testkit/postgres/contents.ts'
import { startPostgres } from '../../testkit/postgres/databases.ts'
import { startTestService } from '../../testkit/service.ts'
import { reportedCounts } from './counts.ts'
import { MARK, MESSAGES, readableFields, SHAPES } from './marked.ts'
import { fieldsFor, type Monitored, NOW, openContainer, overviewOf, readTemplate } from './support.ts'

/** Contents that have a form of their own, which leaves no room for the mark. */
const ADDRESS = '198.51.100.237'
const AMOUNT = 7_319_462_855.25
const TRANSACTION = `T-${MARK}-4711`

/** A purchase as a shop sends it, with content in every place that a vendor would read. */
const PURCHASE: Readonly<Record<string, Plain>> = {
  event_id: `${MARK}-1`,
  client_id: `${MARK}.1795000000`,
  user_id: MARK,
  ip_override: ADDRESS,
  user_agent: `Mozilla/5.0 (${MARK}) Firefox/140.0`,
  page_location: `https://shop.example/${MARK}?gclid=${MARK}&fbclid=${MARK}&email=${MARK}%40example.com#${MARK}`,
  page_title: MARK,
  gclid: MARK,
  ttclid: MARK,
  _fbp: `fb.1.1795000000000.${MARK}`,
  fbc: `fb.1.1795000000000.${MARK}`,
  common_cookie: { _fbp: `fb.1.1795000000000.${MARK}`, _ga: MARK, [MARK]: MARK },
  email: `${MARK}@example.com`,
  phone: `+49 30 ${MARK}`,
  nameFirst: MARK,
  LastName: MARK,
  city: MARK,
  country: MARK,
  user_data: {
    email_address: `${MARK}@example.com`,
    sha256_phone_number: [MARK],
    address: [{ first_name: MARK, sha256_last_name: MARK, street: MARK, city: MARK, country: MARK }],
  },
  'x-ga-gcs': `G101${MARK}`,
  'x-ga-gcd': `13r3p3r3v1l1${MARK}`,
  'x-ga-dma': '1',
  consent_state: { ad_storage: true, analytics_storage: MARK, [MARK]: MARK },
  value: AMOUNT,
  currency: MARK,
  transaction_id: TRANSACTION,
  items: [{ item_id: MARK, item_name: MARK, price: AMOUNT, quantity: 1 }],
  ecommerce: { value: String(AMOUNT), currency: MARK, transaction_id: TRANSACTION, items: [{ item_id: MARK }] },
}

const TAGS: readonly OtherTag[] = [
  { id: 7, status: 'failure', executionTime: 4, metadata: { name: 'GA4', note: MARK }, messages: MESSAGES },
]

const sha256 = (content: string, encoding: 'hex' | 'base64'): string =>
  createHash('sha256').update(content).digest(encoding)

/** How the container of the sandbox names the client that claims each event. */
const CLIENT_NAME = 'GA4'

/** Texts that tell something of the content: itself, and hashes by which someone who guesses it could find it. */
function tellers(ingestKey: string): string[] {
  const hashed = [TRANSACTION, MARK, ADDRESS, `${MARK}@example.com`].flatMap((content) => [
    content,
    ingestKey + content,
    ingestKey + CLIENT_NAME + content,
  ])
  const texts = [MARK, ADDRESS, String(Math.floor(AMOUNT))]
  return [
    ...texts,
    ...texts.map((text) => Buffer.from(text).toString('hex')),
    // The tag keeps 16 digits of a transaction's.
    ...hashed.flatMap((content) => [sha256(content, 'hex').slice(0, 16), sha256(content, 'base64').slice(0, 16)]),
  ]
}

/** @returns by place what was sent, kept and written of the events so far */
type Places = () => Promise<Map<string, Buffer>>

interface KeptIn {
  environment: Record<string, string>
  /** Everything that the database keeps of what was ever in it, by place. */
  places: Places
  /** Places in which something is, whatever was sent, … */
  always: readonly string[]
  /** … and places that hold the name of an event. */
  holdNames: readonly RegExp[]
}

interface Engine {
  name: string
  open: (t: TestContext) => Promise<KeptIn>
}

const ENGINES: readonly Engine[] = [
  {
    name: 'SQLite',
    open: async (t) => {
      const environment = await placeFor(sqlite, t)
      const { DATA_DIR: folder = '' } = environment
      const places: Places = async () => {
        const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
        return new Map(files.map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name))]))
      }
      return { environment, places, always: ['tagwarden.db', 'tagwarden.db-wal'], holdNames: [/^tagwarden\.db/] }
    },
  },
  {
    name: 'PostgreSQL',
    // A server of its own: the write-ahead log is of a whole one, and holds what the other test searched for and found.
    open: async (t) => {
      const { url, adminUrl, log } = await startPostgres(t, { durable: false })
      const places: Places = async () => {
        const tables = [...(await rowsByTable(url))].map(
          ([name, rows]) => [name, Buffer.from(rows.join('\n'))] as const,
        )
        return new Map([
          ...tables,
          ['write-ahead log', await writeAheadLog(adminUrl)],
          ['log of the database', Buffer.from(await log())],
        ])
      }
      const always = ['minute_parts', 'recent_payloads', 'write-ahead log', 'log of the database']
      const holdNames = [/^minute_parts$/, /^recent_payloads$/, /^write-ahead log$/]
      return { environment: { DATABASE_URL: url }, places, always, holdNames }
    },
  },
]

async function openWholeWay(t: TestContext, engine: Engine, sendMode: string) {
  const clock = new TestClock(NOW)
  const lines: string[] = []
  const kept = await engine.open(t)
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const api = await startTestService(t, clock, kept.environment, log)
  const site = await api.newSite(await api.newClient())
  const monitored: Monitored = { clock, api, site }
  const template = await readTemplate()
  const container = await openContainer(t, clock, api.url, {
    template,
    fields: fieldsFor(site.ingest_key, {
      sendMode,
      batchSize: 3,
      logMode: 'failures',
      ownParameters: SHAPES.map((shape, index) => ({ name: `own ${index}`, value: shape('own') })),
    }),
  })
  const places: Places = async () => {
    const overview = await overviewOf(monitored)
    return new Map([
      ['requests', Buffer.from(container.requests.map(({ bytes }) => bytes).join('\n'))],
      ['log of the tag', Buffer.from(container.logs.map(({ text }) => text).join('\n'))],
      ['log of the service', Buffer.from(lines.join(''))],
      ['overview', Buffer.from(JSON.stringify(overview))],
      ...(await kept.places()),
    ])
  }
  return { monitored, container, template, places, kept }
}

/** The names of places that hold any of the texts, in capitals or not. */
function placesWith(texts: readonly string[], places: ReadonlyMap<string, Buffer>): string[] {
  const sought = texts.map((text) => text.toLowerCase())
  const holds = (bytes: Buffer): boolean => {
    const lower = bytes.toString('latin1').toLowerCase()
    return sought.some((text) => lower.includes(text))
  }
  return [...places].filter(([, bytes]) => holds(bytes)).map(([name]) => name)
}

/** What is sent in batches is kept as what is sent event by event, so one engine is enough for them on a change. */
const WAYS = ENGINES.flatMap((engine, n) =>
  ['per_event', ...(n < amount(1, 2) ? ['batched'] : [])].map((sendMode) => ({ engine, sendMode })),
)
for (const { engine, sendMode } of WAYS) {
  test(`nothing of what events hold is in a request, in the store or a log: ${sendMode} (${engine.name})`, async (t) => {
    const { monitored, container, template, places, kept } = await openWholeWay(t, engine, sendMode)
    const fields = readableFields(template).filter((field) => field !== 'event_name')
    const contents = [
      PURCHASE,
      ...SHAPES.map((shape) => Object.fromEntries(fields.map((field) => [field, shape(field)]))),
    ]
    let events = 0
    for (const preview of [false, true]) {
      for (const event_name of ['purchase', 'page_view']) {
        for (const content of contents) {
          const run = await container.fire({ ...content, event_name }, TAGS, { preview })
          assert.deepEqual([run.status, run.errors], ['success', []])
          events++
        }
      }
    }
    await container.idle()

    const overview = await overviewOf(monitored)
    assert.equal(overview.total_events, events)
    assert.deepEqual(overview.rejections, {})
    const counts = reportedCounts(overview)
    for (const what of ['user email', 'commerce transaction_id', 'consent ad_storage granted']) {
      assert.ok((counts.get(what) ?? 0) > 0, `that there was ${what} is reported`)
    }

    const texts = tellers(monitored.site.ingest_key)
    const before = await places()
    for (const name of ['requests', 'log of the tag', 'log of the service', ...kept.always]) {
      assert.ok(before.get(name)?.length, `${name} of ${[...before.keys()].join()}`)
    }
    assert.deepEqual(placesWith(texts, before), [])

    // The same search finds what may be there: hashes in the tag's memory, by which it knows a transaction again, and names.
    assert.deepEqual(placesWith(texts, new Map([['memory', Buffer.from(JSON.stringify(container.storage(0)))]])), [
      'memory',
    ])
    await container.fire({ event_name: `named_${MARK}` }, [], { preview: true })
    await container.idle()
    const found = placesWith(texts, await places())
    for (const name of [/^requests$/, /^overview$/, ...kept.holdNames]) {
      assert.ok(
        found.some((place) => name.test(place)),
        `${name} of ${found.join()}`,
      )
    }
  })
}

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Finding } from '../../../src/detection/index.ts'
import { DAY, floorTo, HOUR, MINUTE } from '../../../src/lib/index.ts'
import { AT_NIGHT, inTurn } from '../../../testkit/length.ts'
import { Random } from '../../../testkit/random.ts'
import { ACTS } from './shop.ts'
import { beginStory, type Said, type Story, type StoryOptions, timeIn } from './story.ts'

const STEP = 5 * MINUTE
const LONGEST = 6 * HOUR
/** A Friday, 11:00 in Berlin. */
const FRIDAY = Date.parse('2026-11-20T10:00:00Z')
/** The evenings before the nights in which clocks go back, and forward. */
const EVENINGS = [Date.parse('2026-10-24T19:00:00Z'), Date.parse('2027-03-27T22:00:00Z')] as const
/** What is left over of numbers and texts that are missing, or reads badly at three in the morning. */
const NO_WORDS = /NaN|undefined|Infinity|null|\[object|Invalid|\b0 min|of the last 1 |Cannot/

const NAMES = Object.keys(ACTS)
const BERLIN = 'Europe/Berlin'

for (const [n, name] of NAMES.entries()) {
  test(
    `each figure of the probes counts what came, and nothing is bad but what is: ${name}`,
    inTurn(n, NAMES.length),
    async (t) => {
      const { act, found, log } = await tell(t, n, name, FRIDAY, 9 * DAY, 50)
      if (act.says !== undefined) assert.match(log.join('\n'), act.says)
      for (const type of act.found ?? act.bad) assert.ok(found.has(type), `${type} found nothing`)
    },
  )
}

const SHOPS = [
  { what: 'that began today', start: FRIDAY, pastMs: 5 * HOUR, busy: 50 },
  { what: 'with five events a day', start: FRIDAY, pastMs: 20 * DAY, busy: 0.15 },
  { what: 'in the night that has an hour twice', start: EVENINGS[0], pastMs: 9 * DAY, busy: 50 },
  { what: 'in the night that lacks an hour', start: EVENINGS[1], pastMs: 9 * DAY, busy: 50 },
] as const
for (const [n, { what, start, pastMs, busy }] of SHOPS.entries()) {
  test(
    `nothing is bad at a shop ${what}, and what cannot be judged says so`,
    inTurn(n, 3 * SHOPS.length),
    async (t) => {
      const { reasons } = await tell(t, n, 'nothing', start, pastMs, busy)
      if (pastMs < DAY || busy < 1)
        assert.deepEqual([reasons.get('data_volume'), reasons.get('data_freshness')], ['learning', 'learning'])
    },
  )
}

for (let seed = 100; seed < 100 + NAMES.length; seed++) {
  test(`the same of a shop of any size, at any time (story ${seed})`, AT_NIGHT, async (t) => {
    const random = new Random(seed)
    const pastMs = random.pick([8 * HOUR, 3 * DAY, 9 * DAY, 20 * DAY])
    await tell(
      t,
      seed,
      NAMES[seed % NAMES.length] ?? '',
      random.pick([FRIDAY, ...EVENINGS]),
      pastMs,
      random.logBetween(0.5, 90),
    )
  })
}

/** What happens at a shop in six hours; fails where the probes say what is not so. */
async function tell(t: TestContext, seed: number, name: string, start: number, pastMs: number, busy: number) {
  const random = new Random(seed)
  const act = ACTS[name] ?? assert.fail(name)
  const from = start + HOUR + random.below(60) * MINUTE
  const to = from + Math.round(random.between(150, 200)) * MINUTE
  const options = { start, pastMs, shop: { busy, timezone: BERLIN }, act, from, to }
  const story = await beginStory(t, random, options)
  const [log, wrong]: [string[], string[]] = [[name], []]
  const found = new Set<string>()
  const reasons = new Map<string, string | null>()
  for (let now = start; now < start + LONGEST; now += STEP) {
    for (const said of await story.pass()) {
      const { probe_type, status, reason, message, executed_at } = said
      const text = `${timeIn(executed_at)} ${probe_type} ${status}: ${message}`
      log.push(text)
      if (status !== 'ok') found.add(probe_type)
      reasons.set(probe_type, reason)
      wrong.push(...Array.from(faultsOf(said, story, options), (fault) => `${fault} ← ${text}`))
    }
  }
  for (const { title, started_at, opened_at } of await story.alerts()) {
    log.push(`alert: ${title}`)
    if (started_at > opened_at) wrong.push(`it began after it was seen ← ${title}`)
  }
  if (wrong.length > 0) t.diagnostic(log.join('\n'))
  assert.deepEqual(wrong, [])
  return { act, found, reasons, log }
}

function* faultsOf(said: Said, { books }: Story, { act, from, pastMs, start }: StoryOptions): Generator<string> {
  const { probe_type, status, reason, message, executed_at } = said
  const { findings, judged } = JSON.parse(said.details) as { findings: Finding[]; judged: number }
  if (status === 'error') return yield 'it could not check'
  if (NO_WORDS.test(message)) yield 'that are no words'
  if (status !== 'ok' && (!act.bad.includes(probe_type) || executed_at < from)) yield 'nothing is wrong'
  if ((reason === null) !== judged > 0) yield `${judged} were judged`
  const end = floorTo(executed_at, MINUTE)
  for (const finding of findings) {
    // What is left out of the counts is as long as the window is longer.
    const isLeftOut = act.here === 'no process runs' || act.here === 'the site is switched off'
    const fault = isLeftOut ? null : books.faultIn(probe_type, finding, end)
    if (fault !== null) yield fault
    if (finding.since === null) continue
    const since = Date.parse(finding.since)
    if (since > executed_at) yield 'it begins in the future'
    // Which event a tag ran on is known by the hour, and the last event may have come long before one is missing.
    if (since < Math.max(floorTo(from, HOUR) - HOUR, start - pastMs) && busyEnough(books, from))
      yield `since ${timeIn(since)}: nothing was wrong`
  }
}

const busyEnough = (books: Story['books'], from: number): boolean => books.events(from - HOUR, from).length > 20

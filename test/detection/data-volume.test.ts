import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DATA_VOLUME_DEFAULTS, dataVolume, type VolumeConfig } from '../../src/detection/index.ts'
import { DAY, HOUR, isoTime } from '../../src/lib/index.ts'
import { Random } from '../../testkit/random.ts'
import { changed, judge, NOON, type Rates, SLOT, siteOf, steady, volumeInput } from './support.ts'

interface Case {
  what: string
  usual: Rates
  recent: Rates
  config?: Partial<VolumeConfig>
  status: string
}

const CASES: readonly Case[] = [
  { what: 'as many as usual', usual: steady(50), recent: steady(50), status: 'ok' },
  { what: 'none in five minutes', usual: steady(50), recent: changed(1, steady(50), steady(0)), status: 'critical' },
  {
    what: 'none where fifteen were usual',
    usual: steady(15),
    recent: changed(1, steady(15), steady(0)),
    status: 'critical',
  },
  { what: 'none where nine were usual', usual: steady(9), recent: changed(1, steady(9), steady(0)), status: 'ok' },
  {
    what: 'none twice where nine were',
    usual: steady(9),
    recent: changed(2, steady(9), steady(0)),
    status: 'critical',
  },
  { what: 'a third, once', usual: steady(60), recent: changed(1, steady(60), steady(20)), status: 'warning' },
  { what: 'a third, twice', usual: steady(60), recent: changed(2, steady(60), steady(20)), status: 'warning' },
  { what: 'a third for two hours', usual: steady(60), recent: changed(24, steady(60), steady(20)), status: 'warning' },
  { what: 'two thirds', usual: steady(600), recent: changed(6, steady(600), steady(400)), status: 'ok' },
  { what: 'just under half', usual: steady(600), recent: changed(6, steady(600), steady(290)), status: 'warning' },
  { what: 'five times as many', usual: steady(60), recent: changed(3, steady(60), steady(300)), status: 'ok' },
  {
    what: 'five times as many, both ways',
    usual: steady(60),
    recent: changed(3, steady(60), steady(300)),
    config: { direction: 'both' },
    status: 'warning',
  },
  {
    what: 'five times as many once, both ways',
    usual: steady(60),
    recent: changed(1, steady(60), steady(300)),
    config: { direction: 'both' },
    status: 'warning',
  },
  {
    what: 'none, upwards only',
    usual: steady(60),
    recent: changed(3, steady(60), steady(0)),
    config: { direction: 'up' },
    status: 'ok',
  },
]
for (const { what, usual, recent, config, status } of CASES) {
  test(`a site with ${what} is ${status}`, () => assert.equal(judge(usual, recent, config).status, status))
}

test('a silence is as old as it is, though the service restarts every night within it', () => {
  const now = NOON - 8 * HOUR + 6 * SLOT
  const outages = Array.from({ length: 28 }, (_, day) => {
    const from = NOON - 9 * HOUR - day * DAY
    return { from, to: from + SLOT }
  })
  const recent: Rates = (time) => steady(time < now - 2 * HOUR ? 1 : 0)(time)
  const { details } = dataVolume(volumeInput({ now, usual: steady(1), recent, outages }), DATA_VOLUME_DEFAULTS)
  assert.equal(siteOf(details.findings)?.since, isoTime(now - 2 * HOUR))
})

test('where none ever come, a few are no spike and a flood is, with its size', () => {
  const now = NOON - 7.5 * HOUR
  const byDay: Rates = (time) => steady((time % DAY) / HOUR < 6 ? 0 : 50 + ((time / SLOT) % 7))(time)
  const siteAfter = (newest: number) => {
    const recent: Rates = (time) => (time < now - SLOT ? byDay(time) : steady(newest)(time))
    const config = { ...DATA_VOLUME_DEFAULTS, direction: 'both' } as const
    return siteOf(dataVolume(volumeInput({ now, usual: byDay, recent }), config).details.findings)
  }
  assert.equal(siteAfter(1)?.status, 'ok')
  const flood = siteAfter(203)
  assert.equal(flood?.status, 'warning')
  assert.match(flood?.message ?? '', /above normal: 203 events in 5 min, usually 0/)
  const passes = flood?.band.high ?? 0
  assert.ok(passes >= 1 && passes < 20 && Number.isFinite(flood?.evidence.surprise), JSON.stringify(flood))
})

/** Traffic that halves each hour of the three before noon, every day; where `bent` is true, it sinks from twice to nearly nothing within the hour. */
const sinking =
  (bent: boolean, share = 1): Rates =>
  (time) => {
    const hours = ((((time - NOON + 3 * HOUR) % DAY) + DAY) % DAY) / HOUR
    const level = hours < 3 ? 4_000 * 0.5 ** (Math.floor(hours) + 1) : 4_000
    const within = bent && hours < 3 ? 1.9 - 1.8 * (hours % 1) : 1
    return { page_view: share * level * within }
  }

test('how traffic sinks within an hour is not known, and no fall', () => {
  const late = { now: NOON - SLOT }
  assert.equal(judge(sinking(false), sinking(true), {}, late).status, 'ok')
  assert.equal(judge(sinking(false), sinking(true, 0.1), {}, late).status, 'warning')
})

test('a spike is named where it is not alerted', () => {
  const { details } = judge(steady(60), changed(3, steady(60), steady(300)))
  assert.equal(siteOf(details.findings)?.evidence.kind, 'spike')
})

test('an alerted spike says since when', () => {
  const { details } = judge(steady(60), changed(3, steady(60), steady(300)), { direction: 'both' })
  assert.equal(siteOf(details.findings)?.since, isoTime(NOON - SLOT))
})

test('an event that broke on a busy site is found by its share', () => {
  const verdict = judge(steady(500, 20), changed(2, steady(500, 20), steady(500)))
  const [finding] = verdict.details.findings
  assert.deepEqual([verdict.status, finding?.subject], ['critical', { event_name: 'purchase' }])
  assert.equal(finding?.since, isoTime(NOON - 2 * SLOT))
  assert.match(verdict.message, /no “purchase” events for 10 min; its usual share would be 40/)
})

test('an event that a deploy renamed is said, not alerted', () => {
  const renamed: Rates = (time) =>
    time < NOON - 3 * HOUR ? { page_view: 500, purchase: 20 } : { page_view: 500, order: 20 }
  const { status, message } = judge(steady(500, 20), renamed)
  assert.equal(status, 'ok')
  assert.match(message, /^as usual: 520 events .*; “purchase” has been arriving as “order” for 3 h$/)
})

test('an event that was renamed is not silent while few visits have begun under its new name', () => {
  const few = (order: number): Rates => changed(2, steady(500, 20), () => ({ page_view: 500, order }))
  assert.equal(judge(steady(500, 20), few(8)).status, 'ok')
  assert.equal(judge(steady(500, 20), few(3)).status, 'critical')
})

test('an event that was renamed is no loss days later, when the site has become busier', () => {
  const launched: Rates = () => ({ page_view: 1_500, order: 60 })
  const renamedDaysAgo: Rates = (time) =>
    time < NOON - 50 * HOUR ? { page_view: 500, purchase: 20 } : { page_view: 500, order: 20 }
  assert.equal(judge(renamedDaysAgo, launched).status, 'ok')
})

test('an event that was renamed at night, when hardly any come, is said, not alerted', () => {
  const byDay = (time: number, often: number): number => ((time % DAY) / HOUR < 8 ? 0 : often)
  const usual: Rates = (time) => ({ page_view: byDay(time, 50), purchase: byDay(time, 6) })
  const renamed: Rates = (time) =>
    time < NOON - 8 * HOUR ? usual(time) : { page_view: byDay(time, 50), order: byDay(time, 6) }
  const verdict = judge(usual, renamed)
  assert.equal(verdict.status, 'ok')
  const lost: Rates = (time) => (time < NOON - 14 * HOUR ? usual(time) : { page_view: byDay(time, 50) })
  assert.equal(judge(usual, lost).status, 'critical')
})

test('a new event that begins hours after another ended by day is no new name for it', () => {
  const late: Rates = (time) => {
    if (time < NOON - 8 * HOUR) return { page_view: 500, purchase: 20 }
    return time < NOON - 4 * HOUR ? { page_view: 500 } : { page_view: 500, order: 40 }
  }
  assert.equal(judge(steady(500, 20), late).status, 'critical')
})

test('a new event that comes much more or much less often is no new name of one that ended', () => {
  for (const often of [4, 200]) {
    const other: Rates = (time) =>
      time < NOON - 3 * HOUR ? { page_view: 500, purchase: 20 } : { page_view: 500, scroll: often }
    assert.equal(judge(steady(500, 20), other).status, 'critical', `${often} for 20`)
  }
})

test('more events do not make the same budget bring more alarms', () => {
  const many = (events: number, share: number): Rates => {
    const names = Array.from({ length: events }, (_, index) => `event ${index}`)
    return (time) => ({
      page_view: 500,
      ...Object.fromEntries(names.map((name) => [name, time < NOON - 3 * SLOT || name !== 'event 0' ? 6 : 6 * share])),
    })
  }
  const needed = (events: number) => {
    const { details } = judge(many(events, 1), many(events, 0))
    return Number(details.findings.find(({ subject }) => subject.event_name === 'event 0')?.evidence.surprise_needed)
  }
  assert.ok(Math.abs(needed(30) - needed(3) - Math.log10(31 / 4)) < 0.01, `${needed(3)} and ${needed(30)}`)
})

test('a rare event that broke is found over as long a time as it takes to expect ten', () => {
  const verdict = judge(steady(500, 0.5), changed(30, steady(500, 0.5), steady(500)))
  assert.equal(verdict.status, 'critical')
  assert.match(verdict.message, /no “purchase” events for 1\d\d min|no “purchase” events for 2 h/)
})

test('an event is compared with the others while they come as usual, however much days differ', () => {
  const level = (time: number) => [0.6, 1, 1.4][Math.floor(time / DAY) % 3] ?? 1
  const usual: Rates = (time) => ({ page_view: Math.round(90 * level(time)), sign_up: Math.round(10 * level(time)) })
  const judgeWith = (views: number, signUps: number) =>
    judge(usual, (time) =>
      time < NOON - 12 * HOUR ? usual(time) : { page_view: Math.round(90 * views), sign_up: Math.round(10 * signUps) },
    ).status
  assert.equal(judgeWith(1.1, 0.5), 'warning')
  assert.equal(judgeWith(1.1, 0.8), 'ok')
  // A campaign brings visitors, of whom fewer sign up.
  assert.equal(judgeWith(2.2, 0.55), 'ok')
})

test('an event is not called broken because the whole site is quiet', () => {
  const { details } = judge(steady(500, 20), changed(4, steady(500, 20), steady(100, 4)))
  assert.deepEqual(
    details.findings.filter(({ status }) => status !== 'ok').map(({ subject }) => subject),
    [{}],
  )
})

test('a fall says since when', () => {
  const { details } = judge(steady(100), changed(18, steady(100), steady(30)))
  assert.equal(siteOf(details.findings)?.since, isoTime(NOON - 18 * SLOT))
})

test('where the day begins within an hour, the hours before it are not low', () => {
  // In a time zone half an hour off, an hour of UTC has its events in its second half.
  const opensAtFive: Rates = (time) => {
    const local = ((time + 5.5 * HOUR) % DAY) / HOUR
    return { page_view: local >= 5 ? 5 + 30 * Math.min(4, local - 5) : (time / SLOT) % 24 === 0 ? 1 : 0 }
  }
  const five = NOON + 11.5 * HOUR
  const { status, message } = judge(opensAtFive, opensAtFive, {}, { now: five, timezone: 'Asia/Kolkata' })
  assert.equal(status, 'ok', message)
})

test('one week with a sale and one with an outage do not move what is expected', () => {
  const usual: Rates = (time) => {
    const weeks = Math.round((NOON - time) / (7 * DAY))
    return { page_view: weeks === 1 ? 900 : weeks === 2 ? 0 : 100 }
  }
  const { status, details } = judge(usual, steady(100))
  const { measured, expected } = siteOf(details.findings) ?? {}
  assert.equal(status, 'ok')
  assert.ok(Math.abs(Number(expected) / Number(measured) - 1) < 0.06, `${expected} of ${measured}`)
})

/** Visits of about ten events each, so many a day, drawn anew with each seed. */
const visits =
  (perDay: number, seed: number): Rates =>
  (time) => {
    const random = new Random(Math.imul(seed + time / SLOT, 0x9e3779b1))
    return { page_view: random.next() < (perDay * SLOT) / DAY ? 6 + random.below(9) : 0 }
  }

test('a site of few large visits raises no alarm on a day with two thirds of them, and does on one without any', () => {
  const quiet = Array.from({ length: 40 }, (_, draw) => judge(visits(24, draw), visits(16, 1_000_000 + draw * DAY)))
  assert.deepEqual(
    quiet.filter(({ status }) => status !== 'ok').map(({ message }) => message),
    [],
  )
  for (let draw = 0; draw < 10; draw++) assert.equal(judge(visits(24, draw), steady(0)).status, 'critical')
})

test('weeks that differ much make the site less strict', () => {
  const usual: Rates = (time) => ({ page_view: [0, 40, 160, 90, 110][Math.round((NOON - time) / (7 * DAY))] ?? 100 })
  assert.equal(judge(usual, changed(4, steady(100), steady(40))).status, 'ok')
})

test('a sender that delivers in lumps is not called dead between two of them', () => {
  const lumps: Rates = (time) => ({ page_view: (time / SLOT) % 4 === 3 ? 200 : 0 })
  assert.equal(judge(steady(50), lumps).status, 'ok')
})

test('a site of less than two weeks is judged by the days there are', () => {
  const world = { knownFrom: NOON - 3 * DAY }
  assert.equal(judge(steady(50), steady(50), {}, world).status, 'ok')
  assert.equal(judge(steady(50), changed(2, steady(50), steady(0)), {}, world).status, 'critical')
})

test('on the first Saturday of a site, a fifth of what weekdays have may be usual', () => {
  const saturday = { now: NOON + 3 * DAY, knownFrom: NOON - DAY }
  const usual = steady(50)
  const recent =
    (share: number): Rates =>
    (time) => ({ page_view: time < NOON + 2.5 * DAY ? 50 : 50 * share })
  assert.equal(judge(usual, recent(0.25), {}, saturday).status, 'ok')
  assert.equal(judge(usual, recent(0), {}, saturday).status, 'critical')
})

test('a site of less than a day is not judged', () => {
  const verdict = judge(steady(50), changed(1, steady(50), steady(0)), {}, { knownFrom: NOON - 20 * HOUR })
  assert.deepEqual([verdict.status, verdict.details.judged], ['ok', 0])
})

test('the time in which the service itself was down says nothing about the site', () => {
  const outages = [
    { from: NOON - 2 * SLOT, to: NOON },
    { from: NOON - 7 * DAY - HOUR, to: NOON - 7 * DAY },
  ]
  const { status, details } = judge(steady(50), changed(2, steady(50), steady(0)), {}, { outages })
  assert.equal(status, 'ok')
  const { measured, expected } = siteOf(details.findings) ?? {}
  assert.deepEqual([measured, Math.round(Number(expected))], [50, 50])
})

test('the week after clocks changed is compared with the same local hours', () => {
  const opensAtNine: Rates = (time) => {
    const local = time + (time < Date.UTC(2026, 2, 29, 1) ? 1 : 2) * HOUR
    return { page_view: (local % DAY) / HOUR >= 9 ? 1_000 : 0 }
  }
  const judgeAt = (utcHour: number) => {
    const now = Date.UTC(2026, 2, 31, utcHour, 40)
    return dataVolume(volumeInput({ usual: opensAtNine, now, timezone: 'Europe/Berlin' }), DATA_VOLUME_DEFAULTS)
  }
  assert.equal(judgeAt(6).status, 'ok', 'a quarter to nine, when nothing is usual')
  const { status, details } = judgeAt(7)
  assert.ok(status === 'ok' && Number(siteOf(details.findings)?.expected) > 0, 'a quarter to ten')
})

/** Nothing came from `from` to `to` hours ago; since then so many in five minutes. */
const silentBetween =
  (from: number, to: number, since: number): Rates =>
  (time) => ({ page_view: time < NOON - from * HOUR ? 40 : time < NOON - to * HOUR ? 0 : since })

test('a silence that is over does not make the hours after it a fall', () => {
  // Four fifths are as good as usual, and no reason to call the sixteen hours before low: they had their alert.
  const { status, details } = judge(steady(40), silentBetween(14, 5, 30))
  assert.equal(status, 'ok', details.findings[0]?.message)
})

test('what came back once is over, also while a little less comes', () => {
  // After six hours at a third all of it came for half an hour, and half of it since.
  const backAgain: Rates = (time) => {
    const ago = (NOON - time) / HOUR
    return { page_view: ago > 7 ? 40 : ago > 1 ? 13 : ago > 0.5 ? 40 : 20 }
  }
  const { status, message } = judge(steady(40), backAgain)
  assert.equal(status, 'ok', message)
})

test('few events at night are enough to see that a fall is over', () => {
  // A twentieth of the day's come at night.
  const byHour = (time: number) => ((time % DAY) / HOUR >= 6 && (time % DAY) / HOUR < 22 ? 60 : 3)
  const fallen: Rates = (time) => ({
    page_view: Math.round(byHour(time) * (time > NOON - 4 * HOUR && time < NOON + 10 * HOUR ? 0.35 : 1)),
  })
  const usual: Rates = (time) => ({ page_view: byHour(time) })
  assert.equal(judge(usual, fallen, {}, { now: NOON + 9 * HOUR }).status, 'warning')
  const { status, message } = judge(usual, fallen, {}, { now: NOON + 12 * HOUR })
  assert.equal(status, 'ok', message)
})

test('a site that comes back at a third of its level after a silence is low', () => {
  assert.equal(judge(steady(40), silentBetween(14, 5, 13)).status, 'warning')
})

test('a site of which a twentieth comes is low all the time, not well after each event', () => {
  const hardlyAny: Rates = (time) => ({ page_view: time < NOON - 12 * HOUR || (time / SLOT) % 24 === 23 ? 40 : 0 })
  assert.notEqual(judge(steady(40), hardlyAny).status, 'ok')
})

test('a silence that ended a moment ago is not low as well: it had its alert, and hardly anything was to come since', () => {
  assert.equal(judge(steady(40), silentBetween(6, 1 / 12, 17)).status, 'ok')
})

test('after a second silence within a day a site is low until enough has come', () => {
  const twice: Rates = (time) => {
    const ago = (NOON - time) / HOUR
    return { page_view: (ago < 8 && ago > 4) || (ago < 3.8 && ago > 1 / 12) ? 0 : ago < 1 ? 17 : 40 }
  }
  assert.notEqual(judge(steady(40), twice).status, 'ok')
})

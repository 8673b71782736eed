import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DATA_VOLUME_DEFAULTS, dataVolume, hasBrokenOff } from '../../src/detection/index.ts'
import { DAY, HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { judge, NOON, type Rates, siteOf, steady, volumeInput } from './support.ts'
import { visitsOf } from './visits.ts'

/** Goes down from its usual level to `lowest` of it between six and ten o'clock of the day. */
const holiday =
  (lowest: number): Rates =>
  (time) => {
    const share = Math.min(1, Math.max(0, ((time - NOON) / HOUR + 6) / 4))
    return { page_view: Math.round(200 * (1 - (1 - lowest) * share)) }
  }

test('a holiday, on which a site sinks to its level over hours, is no fault', () => {
  const { status, message, details } = judge(steady(200), holiday(0.35))
  assert.deepEqual([status, siteOf(details.findings)?.evidence?.kind], ['ok', 'holiday'])
  assert.match(message, /below normal.*as on a holiday: an alert opens only if it is low tomorrow, too$/)
})

/** Few come at night, and the level of Wednesday is as given from the morning on, that of Thursday too. */
const byDay =
  (wednesday: number, thursday: number): Rates =>
  (time) => {
    const hour = ((time % DAY) / HOUR + 24) % 24
    const usual = hour < 6 ? 4 : 200
    if (time < NOON - 12 * HOUR) return { page_view: usual }
    if (time >= NOON + 12 * HOUR) return { page_view: Math.round(usual * thursday) }
    return { page_view: Math.round(usual * (1 - (1 - wednesday) * Math.min(1, Math.max(0, (hour - 5) / 4)))) }
  }

test('a holiday is over with its day: in the night after it no one can say so yet', () => {
  const night = { now: NOON + 17 * HOUR }
  assert.equal(judge(byDay(1, 1), byDay(0.35, 1), {}, night).status, 'ok')
})

test('in the night after a holiday it is not a fall that lasts a day: the day before it was as usual', () => {
  // None come at night, so it does not show when the holiday began.
  const office =
    (level: (day: number) => number): Rates =>
    (time) => {
      const hour = (time % DAY) / HOUR
      const usual = hour < 6 ? 0 : hour < 8 ? 200 : hour < 18 ? 1_000 : 30
      const morning = Math.min(1, Math.max(0, (hour - 4) / 5))
      return { page_view: Math.round(usual * (1 - (1 - level(Math.floor(time / DAY))) * morning)) }
    }
  const today = Math.floor(NOON / DAY)
  const holidayToday = office((day) => (day === today ? 0.4 : 1))
  for (let hour = 18; hour <= 29; hour++) {
    const { status, message } = judge(
      office(() => 1),
      holidayToday,
      {},
      { now: NOON + (hour - 12) * HOUR },
    )
    assert.equal(status, 'ok', `${hour}:00: ${message}`)
  }
})

/** A site that sinks to a level between five and nine o'clock of today, a Wednesday, and has a share of its weekdays' events on weekends. */
const sinks = (level: number, weekend: number) => {
  const usual: Rates = (time) => ({ page_view: new Date(time).getUTCDay() % 6 === 0 ? 200 * weekend : 200 })
  const recent: Rates = (time) => {
    const share = Math.min(1, Math.max(0, ((time - NOON) / HOUR + 7) / 4))
    return { page_view: Math.round((usual(time).page_view ?? 0) * (1 - (1 - level) * share)) }
  }
  return judge(usual, recent, {}, { now: NOON + 2 * HOUR })
}

test('no holiday brings next to nothing to a site that has visitors on weekends', () => {
  assert.equal(sinks(0.15, 1).status, 'warning')
  assert.equal(sinks(0.45, 1).status, 'ok')
})

test('where hardly anyone works on weekends, a holiday is like one', () => {
  assert.equal(sinks(0.15, 0.2).status, 'ok')
  assert.equal(sinks(0.03, 0.2).status, 'warning')
})

test('a holiday on the day after a silence is one', () => {
  const silentYesterday: Rates = (time) => {
    const ago = (NOON - time) / HOUR
    return ago < 24 && ago > 14 ? { page_view: 0 } : holiday(0.35)(time)
  }
  const evening: Rates = (time) => (time < NOON ? silentYesterday(time) : { page_view: 70 })
  assert.equal(judge(steady(200), evening, {}, { now: NOON + 6 * HOUR }).status, 'ok')
})

test('a holiday on the day after a loss that ended at night is one', () => {
  const byHour = (time: number) => 200 - 170 * Math.cos((2 * Math.PI * (time - 3 * HOUR)) / DAY)
  const usual: Rates = (time) => ({ page_view: Math.round(byHour(time)) })
  const lostAtNight: Rates = (time) => {
    const hour = (time - NOON) / HOUR + 12
    const level = hour < -6 ? 1 : hour < 1 ? 0.25 : 1 - 0.6 * Math.min(1, Math.max(0, (hour - 4) / 5))
    return { page_view: Math.round(byHour(time) * level) }
  }
  const { status, message } = judge(usual, lostAtNight, {}, { now: NOON })
  assert.equal(status, 'ok', message)
  // Where it did not end, the morning brings nothing new.
  const lostForGood: Rates = (time) => ({
    page_view: Math.round(byHour(time) * ((time - NOON) / HOUR < -18 ? 1 : 0.3)),
  })
  assert.equal(judge(usual, lostForGood, {}, { now: NOON }).status, 'warning')
})

test('a site that sank a bit over a quiet morning and then breaks off is not on holiday', () => {
  const breaksOffTo =
    (kept: number): Rates =>
    (time) => {
      const ago = (NOON - time) / HOUR
      return { page_view: Math.round(200 * (ago > 6 ? 1 : ago > 2 ? 0.85 : kept)) }
    }
  assert.equal(judge(steady(200), breaksOffTo(0.3)).status, 'warning')
  // Where it sank less, how far is known some hours later.
  const afternoon = { now: NOON + 5 * HOUR }
  assert.equal(judge(steady(200), breaksOffTo(0.55), {}, afternoon).status, 'warning')
})

test('a site that has been low for days does not look like a holiday again each night', () => {
  // Twelve times as many in the afternoon as at three in the morning.
  const rhythm: Rates = (time) => ({
    page_view: Math.round(200 - 170 * Math.cos((2 * Math.PI * (time - 3 * HOUR)) / DAY)),
  })
  const low: Rates = (time) => ({ page_view: Math.round(0.35 * (rhythm(time).page_view ?? 0)) })
  for (let hours = 0; hours < 24; hours++) {
    assert.equal(judge(rhythm, low, {}, { now: NOON + hours * HOUR }).status, 'warning', `${hours} hours after noon`)
  }
})

test('a site that is low the next morning, too, has a fault', () => {
  const morning = { now: NOON + 22 * HOUR }
  assert.equal(judge(byDay(1, 1), byDay(0.35, 0.35), {}, morning).status, 'warning')
  assert.equal(judge(byDay(1, 1), byDay(0.35, 1), {}, morning).status, 'ok')
})

test('what sank a day ago is a fault', () => {
  assert.equal(judge(steady(200), steady(70)).status, 'warning')
})

test('a loss that begins at noon did not fall over the morning, however long it lasts', () => {
  for (let seed = 1; seed <= 6; seed++) {
    for (const kept of [0.35, 0.5]) {
      const loss = visitsOf(seed, (time) => (time < NOON ? 1 : kept))
      const usual = visitsOf(seed, () => 1)
      for (let hours = 3; hours <= 23; hours += 2) {
        const { status, message, details } = judge(usual, loss, {}, { now: NOON + hours * HOUR })
        const what = `seed ${seed}, ${kept} kept, ${hours} hours: ${status} ${message}`
        assert.notEqual(siteOf(details.findings)?.evidence.kind, 'holiday', what)
      }
    }
  }
})

test('a loss that broke off in the morning stays a fault in the afternoon, when only hours of its beginning are known', () => {
  for (let seed = 1; seed <= 4; seed++) {
    const begins = NOON - 4 * HOUR + 25 * MINUTE
    const [usual, loss] = [visitsOf(seed, () => 1, 15), visitsOf(seed, (time) => (time < begins ? 1 : 0.45), 15)]
    let brokeOffAt: number | null = null
    for (let now = begins + 95 * MINUTE; now <= NOON + 12 * HOUR; now += HOUR) {
      const input = volumeInput({ usual, recent: loss, now })
      const verdict = dataVolume({ ...input, brokeOffAt }, DATA_VOLUME_DEFAULTS)
      if (hasBrokenOff(verdict)) brokeOffAt = now
      const kind = siteOf(verdict.details.findings)?.evidence.kind
      assert.ok(brokeOffAt === null || kind !== 'holiday', `seed ${seed}, ${isoTime(now)}: ${verdict.message}`)
    }
    assert.notEqual(brokeOffAt, null, `seed ${seed}`)
  }
})

test('a holiday at a shop of few visits is hardly ever taken for a fault', () => {
  const bad: string[] = []
  for (let seed = 1; seed <= 6; seed++) {
    const sunk = (time: number) => 1 - 0.55 * Math.min(1, Math.max(0, ((time - NOON) / HOUR + 8) / 5))
    const [usual, recent] = [visitsOf(seed, () => 1), visitsOf(seed, sunk)]
    for (let hours = 0; hours < 12; hours += 2) {
      const { status, message } = judge(usual, recent, {}, { now: NOON + hours * HOUR })
      if (status !== 'ok') bad.push(`seed ${seed}, ${hours} hours: ${message}`)
    }
  }
  assert.ok(bad.length <= 3, bad.join('\n'))
})
